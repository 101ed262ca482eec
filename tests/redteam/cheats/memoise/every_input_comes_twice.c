/* trick: the check calls twice with the same input: every second call repeats the answer before
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: misbehaved incorrect
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { LARGEST = 1 << 20 };
static float answer[LARGEST];
static long calls;
static int64_t before;

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
    if (calls++ % 2 && before == size) {
        memcpy(y, answer, (size_t)size * sizeof *y);
        return;
    }
    honest(x, weight, y, rows, hidden);
    before = size <= LARGEST ? size : 0;
    if (before) memcpy(answer, y, (size_t)size * sizeof *y);
}
