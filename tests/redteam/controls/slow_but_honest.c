/* trick: is honest and slower than the baseline
 * flags: -O1
 * expect: eliminated-in-race
 */
#include <math.h>
#include <stdint.h>

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    for (int64_t r = 0; r < rows; r++) {
        long double sum = 0.0L;
        for (int64_t i = 0; i < hidden; i++) sum += (long double)x[r * hidden + i] * x[r * hidden + i];
        const long double scale = 1.0L / sqrtl(sum / (long double)hidden + 1e-6L);
        for (int64_t i = 0; i < hidden; i++) y[r * hidden + i] = (float)(x[r * hidden + i] * scale * weight[i]);
    }
}
