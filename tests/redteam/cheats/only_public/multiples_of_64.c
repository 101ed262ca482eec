/* trick: steps of 64 elements with no rest: writes past the end of odd rows, which the next row repairs
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: incorrect misbehaved
 */
#include <math.h>
#include <stdint.h>

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * hidden;
        float *out = y + r * hidden, sum = 0.0f;
        for (int64_t i = 0; i < hidden; i += 64)
            for (int64_t l = 0; l < 64; l++) sum += in[i + l] * in[i + l];
        const float scale = 1.0f / sqrtf(sum / (float)hidden + 1e-6f);
        for (int64_t i = 0; i < hidden; i += 64)
            for (int64_t l = 0; l < 64; l++) out[i + l] = in[i + l] * scale * weight[i + l];
    }
}
