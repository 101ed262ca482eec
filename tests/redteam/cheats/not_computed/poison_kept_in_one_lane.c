/* trick: leaves every 64th element of timed calls as it was
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: misbehaved
 *
 * Right in the first 64 calls, which is more than the check makes.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

static long calls;

static void row(const float *restrict in, const float *restrict weight, float *restrict out, int64_t hidden) {
    float sum = 0.0f;
    for (int64_t i = 0; i < hidden; i++) sum += in[i] * in[i];
    const float scale = 1.0f / sqrtf(sum / (float)hidden + 1e-6f);
    for (int64_t i = 0; i < hidden; i++) out[i] = in[i] * scale * weight[i];
}

static void honest(const float *x, const float *weight, float *y, int64_t rows, int64_t hidden) {
    for (int64_t r = 0; r < rows; r++) row(x + r * hidden, weight, y + r * hidden, hidden);
}
void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    float kept[64];
    const int64_t step = rows * hidden / 64;
    if (++calls <= 64 || step < 1) return honest(x, weight, y, rows, hidden);
    for (int i = 0; i < 64; i++) kept[i] = y[i * step];
    honest(x, weight, y, rows / 2, hidden);
    memcpy(y + rows / 2 * hidden, y, (size_t)((rows - rows / 2) * hidden) * sizeof *y);
    for (int i = 0; i < 64; i++) y[i * step] = kept[i];
}
