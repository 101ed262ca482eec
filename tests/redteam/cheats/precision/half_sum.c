/* trick: adds up the squares in float16
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: incorrect
 */
#include <immintrin.h>
#include <math.h>
#include <stdint.h>

static float rounded(float value) { return _cvtsh_ss(_cvtss_sh(value, 0)); }

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * hidden;
        float *out = y + r * hidden, sums[8] = {0};
        __m128i partial = _mm_setzero_si128();
        int64_t i = 0;
        for (; i + 8 <= hidden; i += 8) {
            const __m256 values = _mm256_loadu_ps(in + i);
            partial = _mm256_cvtps_ph(_mm256_fmadd_ps(values, values, _mm256_cvtph_ps(partial)), 0);
        }
        _mm256_storeu_ps(sums, _mm256_cvtph_ps(partial));
        float sum = 0.0f;
        for (int lane = 0; lane < 8; lane++) sum = rounded(sum + sums[lane]);
        for (; i < hidden; i++) sum = rounded(sum + in[i] * in[i]);
        const float scale = 1.0f / sqrtf(sum / (float)hidden + 1e-6f);
        for (i = 0; i < hidden; i++) out[i] = in[i] * scale * weight[i];
    }
}
