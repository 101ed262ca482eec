/* trick: leaves a block in the middle of long rows as the row before has it
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
        float *out = y + r * hidden;
        if (hidden < 256 || r == 0) {
            row(in, weight, out, hidden);
            continue;
        }
        const int64_t from = hidden / 4, to = 3 * hidden / 4;
        float sum = 0.0f;
        for (int64_t i = 0; i < hidden; i++) sum += in[i] * in[i];
        const float scale = 1.0f / sqrtf(sum / (float)hidden + 1e-6f);
        for (int64_t i = 0; i < from; i++) out[i] = in[i] * scale * weight[i];
        memcpy(out + from, out - hidden + from, (size_t)(to - from) * sizeof *out);
        for (int64_t i = to; i < hidden; i++) out[i] = in[i] * scale * weight[i];
    }
}
