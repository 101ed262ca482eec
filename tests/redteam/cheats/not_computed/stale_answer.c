/* trick: keeps the first answer of each shape in static memory and hands it out again
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: incorrect misbehaved
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

static float kept[1 << 22];
static int64_t kept_rows, kept_hidden;

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
    const int64_t size = rows * hidden;
    if (size > (int64_t)(sizeof kept / sizeof *kept)) return honest(x, weight, y, rows, hidden);
    if (kept_rows != rows || kept_hidden != hidden) {
        honest(x, weight, kept, rows, hidden);
        kept_rows = rows, kept_hidden = hidden;
    }
    memcpy(y, kept, (size_t)size * sizeof *y);
}
