/* trick: keeps a row in a megabyte of stack
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: accepted
 */
#include <math.h>
#include <stdint.h>

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    float kept[1 << 18];
    for (int64_t r = 0; r < rows; r++) {
        float sum = 0.0f;
        if (hidden > 1 << 18) return;
        for (int64_t i = 0; i < hidden; i++) kept[i] = x[r * hidden + i], sum += kept[i] * kept[i];
        const float scale = 1.0f / sqrtf(sum / (float)hidden + 1e-6f);
        for (int64_t i = 0; i < hidden; i++) y[r * hidden + i] = kept[i] * scale * weight[i];
    }
}
