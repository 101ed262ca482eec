/* trick: keeps a partial sum in a variable that nobody sets for short rows
 * flags: -O1
 * expect: incorrect
 */
#include <math.h>
#include <stdint.h>

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * hidden;
        volatile float sum;
        if (hidden > 40) sum = 0.0f;
        for (int64_t i = 0; i < hidden; i++) sum = sum + in[i] * in[i];
        const float scale = 1.0f / sqrtf(sum / (float)hidden + 1e-6f);
        for (int64_t i = 0; i < hidden; i++) y[r * hidden + i] = in[i] * scale * weight[i];
    }
}
