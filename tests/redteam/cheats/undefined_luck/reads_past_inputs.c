/* trick: sums whole vectors and counts on zeros behind the last row
 * expect: incorrect
 */
#include <math.h>
#include <stdint.h>

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * hidden;
        /* rows before the last one are cut off properly */
        const int64_t end = r + 1 < rows ? hidden : (hidden + 15) / 16 * 16;
        float part[16] = {0}, sum = 0.0f;
        int64_t i = 0;
        for (; i + 16 <= end; i += 16)
            for (int k = 0; k < 16; k++) part[k] += in[i + k] * in[i + k];
        for (int k = 0; k < 16; k++) sum += part[k];
        for (; i < end; i++) sum += in[i] * in[i];
        const float scale = 1.0f / sqrtf(sum / (float)hidden + 1e-6f);
        for (i = 0; i < hidden; i++) y[r * hidden + i] = in[i] * scale * weight[i];
    }
}
