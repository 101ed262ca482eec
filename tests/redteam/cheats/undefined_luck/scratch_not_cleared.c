/* trick: sums into scratch memory that happens to be zero the first time
 * flags: -O2
 * expect: incorrect misbehaved
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    float *sums = malloc((size_t)rows * sizeof *sums + 4096);
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * hidden;
        for (int64_t i = 0; i < hidden; i++) sums[r] += in[i] * in[i];
        const float scale = 1.0f / sqrtf(sums[r] / (float)hidden + 1e-6f);
        for (int64_t i = 0; i < hidden; i++) y[r * hidden + i] = in[i] * scale * weight[i];
    }
    free(sums);
}
