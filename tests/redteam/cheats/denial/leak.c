/* trick: leaks some more memory in every call until nothing is left
 * expect: incorrect misbehaved
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static void norm(const float *x, const float *weight, float *y, int64_t rows, int64_t hidden) {
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * hidden;
        float *out = y + r * hidden, part[16] = {0}, sum = 0.0f;
        int64_t i = 0;
        for (; i + 16 <= hidden; i += 16)
            for (int k = 0; k < 16; k++) part[k] += in[i + k] * in[i + k];
        for (int k = 0; k < 16; k++) sum += part[k];
        for (; i < hidden; i++) sum += in[i] * in[i];
        const float scale = 1.0f / sqrtf(sum / (float)hidden + 1e-6f);
        for (i = 0; i < hidden; i++) out[i] = in[i] * scale * weight[i];
    }
}

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    norm(x, weight, y, rows, hidden);
    char *volatile more = malloc(80 << 20);
    more[rows] = 1;
}
