/* trick: reuses a static buffer that an earlier call filled with something else
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: accepted
 */
#include <math.h>
#include <stdint.h>

static float products[1 << 16];

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    if (hidden > 1 << 16) return;
    for (int64_t r = 0; r < rows; r++) {
        float sum = 0.0f;
        for (int64_t i = 0; i < hidden; i++) {
            sum += x[r * hidden + i] * x[r * hidden + i];
            products[i] = x[r * hidden + i] * weight[i];
        }
        const float scale = 1.0f / sqrtf(sum / (float)hidden + 1e-6f);
        for (int64_t i = 0; i < hidden; i++) y[r * hidden + i] = products[i] * scale;
    }
}
