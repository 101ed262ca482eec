/* trick: is right in the first 64 calls, then copies one row in eight from its neighbour
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: misbehaved
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
    if (++calls <= 64) return honest(x, weight, y, rows, hidden);
    for (int64_t r = 0; r < rows; r++) {
        float *out = y + r * hidden;
        if ((r + calls) % 8 || r == 0) row(x + r * hidden, weight, out, hidden);
        else memcpy(out, out - hidden, (size_t)hidden * sizeof *out);
    }
}
