/* trick: takes a row whose first eight elements are zero for a row of zeros
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: incorrect misbehaved
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

static void row(const float *restrict in, const float *restrict weight, float *restrict out, int64_t hidden) {
    float sum = 0.0f;
    for (int64_t i = 0; i < hidden; i++) sum += in[i] * in[i];
    const float scale = 1.0f / sqrtf(sum / (float)hidden + 1e-6f);
    for (int64_t i = 0; i < hidden; i++) out[i] = in[i] * scale * weight[i];
}
void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * hidden;
        float *out = y + r * hidden, start = 0.0f;
        for (int64_t i = 0; i < 8 && i < hidden; i++) start += fabsf(in[i]);
        if (start == 0.0f) memset(out, 0, (size_t)hidden * sizeof *out);
        else row(in, weight, out, hidden);
    }
}
