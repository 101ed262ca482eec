/* trick: allocates and frees scratch inside of every call
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: accepted
 */
#include <math.h>
#include <stdint.h>

#include <stdlib.h>
void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    float *scales = malloc((size_t)(rows + 1) * sizeof *scales);
    if (!scales) return;
    for (int64_t r = 0; r < rows; r++) {
        float sum = 0.0f;
        for (int64_t i = 0; i < hidden; i++) sum += x[r * hidden + i] * x[r * hidden + i];
        scales[r] = 1.0f / sqrtf(sum / (float)hidden + 1e-6f);
    }
    for (int64_t r = 0; r < rows; r++)
        for (int64_t i = 0; i < hidden; i++) y[r * hidden + i] = x[r * hidden + i] * scales[r] * weight[i];
    free(scales);
}
