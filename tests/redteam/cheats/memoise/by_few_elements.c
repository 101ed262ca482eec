/* trick: knows an answer by three elements of the input and the shape
 * flags: -O2
 * expect: incorrect misbehaved eliminated-in-race not-faster slower-on-a-row
 *
 * Fresh inputs never come again, so all that is left is the slow path and the search.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { KEPT = 256, LARGEST = 1 << 17 };
static struct { uint64_t key[4]; float answer[LARGEST]; } kept[KEPT];
static int next;

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
    if (size > LARGEST) return honest(x, weight, y, rows, hidden);
    uint64_t key[4] = {0, 0, (uint64_t)rows, (uint64_t)hidden};
    memcpy(&key[0], x + size / 2, sizeof *x);
    memcpy((char *)&key[0] + sizeof *x, x, sizeof *x);
    memcpy(&key[1], x + size - 1, sizeof *x);
    for (int i = 0; i < KEPT; i++)
        if (!memcmp(kept[i].key, key, sizeof key)) {
            memcpy(y, kept[i].answer, (size_t)size * sizeof *y);
            return;
        }
    honest(x, weight, y, rows, hidden);
    memcpy(kept[next].key, key, sizeof key);
    memcpy(kept[next].answer, y, (size_t)size * sizeof *y);
    next = (next + 1) % KEPT;
}
