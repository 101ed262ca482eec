/* trick: rounds the weights to 8 bits once a call and works with these
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: incorrect
 */
#include <math.h>
#include <stdint.h>

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    static int8_t small[1 << 16];
    float largest = 1e-30f;
    for (int64_t i = 0; i < hidden; i++) largest = fabsf(weight[i]) > largest ? fabsf(weight[i]) : largest;
    for (int64_t i = 0; i < hidden; i++) small[i] = (int8_t)lrintf(weight[i] / largest * 127.0f);
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * hidden;
        float *out = y + r * hidden, sum = 0.0f;
        for (int64_t i = 0; i < hidden; i++) sum += in[i] * in[i];
        const float scale = largest / 127.0f / sqrtf(sum / (float)hidden + 1e-6f);
        for (int64_t i = 0; i < hidden; i++) out[i] = in[i] * scale * (float)small[i];
    }
}
