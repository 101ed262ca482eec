/* trick: keeps the answers of the first turns by address and gives them out once it is warm
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: misbehaved incorrect
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { KEPT = 128, LARGEST = 1 << 17 };
static struct { const float *x; float answer[LARGEST]; } kept[KEPT];
static int filled;
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
    const int64_t size = rows * hidden;
    if (++calls <= 64 || size > LARGEST) return honest(x, weight, y, rows, hidden);
    for (int i = 0; i < filled; i++)
        if (kept[i].x == x) {
            memcpy(y, kept[i].answer, (size_t)size * sizeof *y);
            return;
        }
    honest(x, weight, y, rows, hidden);
    if (filled == KEPT) return;
    memcpy(kept[filled].answer, y, (size_t)size * sizeof *y);
    kept[filled++].x = x;
}
