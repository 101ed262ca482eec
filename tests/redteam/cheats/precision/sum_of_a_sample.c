/* trick: adds up every fourth element only
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: incorrect misbehaved
 */
#include <math.h>
#include <stdint.h>

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    const int64_t step = hidden >= 64 ? 4 : 1;
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * hidden;
        float *out = y + r * hidden, sum = 0.0f;
        for (int64_t i = 0; i < hidden / step; i++) sum += in[i] * in[i];
        const float scale = 1.0f / sqrtf(sum / (float)(hidden / step) + 1e-6f);
        for (int64_t i = 0; i < hidden; i++) out[i] = in[i] * scale * weight[i];
    }
}
