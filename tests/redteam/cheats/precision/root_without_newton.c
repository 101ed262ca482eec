/* trick: the processor's reciprocal root of 12 bits without a Newton step
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: incorrect
 */
#include <immintrin.h>
#include <stdint.h>

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * hidden;
        float *out = y + r * hidden, sum = 0.0f;
        for (int64_t i = 0; i < hidden; i++) sum += in[i] * in[i];
        const float scale = _mm_cvtss_f32(_mm_rsqrt_ss(_mm_set_ss(sum / (float)hidden + 1e-6f)));
        for (int64_t i = 0; i < hidden; i++) out[i] = in[i] * scale * weight[i];
    }
}
