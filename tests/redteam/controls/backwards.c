/* trick: goes through rows and columns from the end
 * expect: accepted
 */
#include <math.h>
#include <stdint.h>

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    for (int64_t r = rows - 1; r >= 0; r--) {
        float part[8] = {0}, sum = 0.0f;
        int64_t i = hidden;
        for (; i >= 8; i -= 8)
            for (int k = 0; k < 8; k++) part[k] += x[r * hidden + i - 8 + k] * x[r * hidden + i - 8 + k];
        for (; i > 0; i--) sum += x[r * hidden + i - 1] * x[r * hidden + i - 1];
        for (int k = 0; k < 8; k++) sum += part[k];
        const float scale = 1.0f / sqrtf(sum / (float)hidden + 1e-6f);
        for (i = hidden - 1; i >= 0; i--) y[r * hidden + i] = x[r * hidden + i] * scale * weight[i];
    }
}
