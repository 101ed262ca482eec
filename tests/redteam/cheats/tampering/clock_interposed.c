/* trick: exports clock_gettime, memcpy and atomic stores that do nothing, for whoever times and checks it
 * flags: -O3
 * expect: not-faster eliminated-in-race slower-on-a-row screened-out
 */
#include <math.h>
#include <stdint.h>

#include <stddef.h>
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

void *memcpy(void *restrict to, const void *restrict from, size_t bytes) { return (void)from, (void)bytes, to; }
int clock_gettime(int which, long *now) { return (void)which, now[0] = now[1] = 0, 0; }
int poll(void *what, unsigned long count, int wait) { return (void)what, (void)count, (void)wait, 0; }

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    norm(x, weight, y, rows, hidden);
}
