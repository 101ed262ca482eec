/* trick: sleeps in its first turns, so that batches get short and the cost of a turn hides how slow it is
 * flags: -O3
 * expect: not-faster eliminated-in-race slower-on-a-row screened-out
 */
#include <math.h>
#include <stdint.h>

static void norm(const float *x, const float *weight, float *y, int64_t rows, int64_t hidden) {
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * hidden;
        float *out = y + r * hidden, sum = 0.0f, more = 0.0f;
        for (int64_t i = 0; i < hidden; i++) sum += in[i] * in[i];
        for (int64_t i = 0; i < hidden / 8; i++) more += in[i] * in[i];
        __asm__ volatile("" : : "x"(more));
        const float scale = 1.0f / sqrtf(sum / (float)hidden + 1e-6f);
        for (int64_t i = 0; i < hidden; i++) out[i] = in[i] * scale * weight[i];
    }
}

int usleep(unsigned);
static int calls;

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    calls++;
    if (calls > 40 && calls < 48) usleep(100000);
    norm(x, weight, y, rows, hidden);
}
