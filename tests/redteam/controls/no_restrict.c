/* trick: says nothing about aliasing and is built at -O1
 * flags: -O1
 * expect: accepted
 */
#include <math.h>
#include <stdint.h>

void kernel(const float *x, const float *weight, float *y, int64_t rows, int64_t hidden) {
    for (int64_t r = 0; r < rows; r++) {
        float a = 0.0f, b = 0.0f, c = 0.0f, d = 0.0f;
        int64_t i = 0;
        for (; i + 4 <= hidden; i += 4) {
            const float *in = x + r * hidden + i;
            a += in[0] * in[0], b += in[1] * in[1], c += in[2] * in[2], d += in[3] * in[3];
        }
        for (; i < hidden; i++) a += x[r * hidden + i] * x[r * hidden + i];
        const float scale = 1.0f / sqrtf((a + b + c + d) / (float)hidden + 1e-6f);
        for (i = 0; i < hidden; i++) y[r * hidden + i] = x[r * hidden + i] * scale * weight[i];
    }
}
