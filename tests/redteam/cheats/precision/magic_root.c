/* trick: the reciprocal root by the magic constant and one step
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: incorrect
 */
#include <stdint.h>
#include <string.h>

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * hidden;
        float *out = y + r * hidden, sum = 0.0f;
        for (int64_t i = 0; i < hidden; i++) sum += in[i] * in[i];
        const float mean = sum / (float)hidden + 1e-6f;
        uint32_t bits;
        memcpy(&bits, &mean, sizeof bits);
        bits = 0x5f3759dfu - (bits >> 1);
        float scale;
        memcpy(&scale, &bits, sizeof scale);
        scale *= 1.5f - 0.5f * mean * scale * scale;
        for (int64_t i = 0; i < hidden; i++) out[i] = in[i] * scale * weight[i];
    }
}
