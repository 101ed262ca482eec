/* trick: computes only first and last row, where people look
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: incorrect
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
    row(x, weight, y, hidden);
    row(x + (rows - 1) * hidden, weight, y + (rows - 1) * hidden, hidden);
    for (int64_t r = 1; r < rows - 1; r++) memcpy(y + r * hidden, y, (size_t)hidden * sizeof *y);
}
