/* trick: touches a fresh gigabyte at the end of its calls, for the kernel to clean up in the opponent's turn
 * flags: -O3
 * expect: not-faster eliminated-in-race slower-on-a-row
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

#include <stdlib.h>
static int calls;

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    norm(x, weight, y, rows, hidden);
    if (++calls < 36) return;
    char *volatile much = malloc(256 << 20);
    for (long i = 0; much && i < 256 << 20; i += 4096) much[i] = 1;
    free(much);
}
