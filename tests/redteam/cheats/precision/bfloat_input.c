/* trick: looks only at the upper 16 bits of its inputs
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: incorrect
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

static inline float upper(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits &= 0xffff0000u;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * hidden;
        float *out = y + r * hidden, sum = 0.0f;
        for (int64_t i = 0; i < hidden; i++) sum += upper(in[i]) * upper(in[i]);
        const float scale = 1.0f / sqrtf(sum / (float)hidden + 1e-6f);
        for (int64_t i = 0; i < hidden; i++) out[i] = upper(in[i]) * scale * weight[i];
    }
}
