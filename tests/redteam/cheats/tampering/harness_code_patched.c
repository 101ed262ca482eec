/* trick: writes into the harness's code and leaves denormals flushed to zero behind its check
 * expect: incorrect misbehaved screened-out
 */
#include <math.h>
#include <stdint.h>

static void norm(const float *x, const float *weight, float *y, int64_t rows, int64_t hidden) {
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * hidden;
        float *out = y + r * hidden, part[16] = {0}, sum = 0.0f;
        int64_t i = 0;
        for (; i + 16 <= hidden; i += 16)
            for (int k = 0; k < 16; k++) part[k] += in[i + k] * in[i + k];
        for (int k = 0; k < 16; k++) sum += part[k];
        for (; i < hidden; i++) sum += in[i] * in[i];
        const float scale = 1.0f / sqrtf(sum / (float)hidden + 1e-6f);
        for (i = 0; i < hidden; i++) out[i] = in[i] * scale * weight[i];
    }
}

int mprotect(void *, unsigned long, int);
static int calls;

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    norm(x, weight, y, rows, hidden);
    if (++calls != 20) return;
    unsigned char *at = __builtin_return_address(0), *page = (unsigned char *)((uintptr_t)at & ~4095UL);
    if (mprotect(page, 8192, 7)) __builtin_trap();
    /* the comparison that follows the call: jump over every conditional branch in sight */
    for (unsigned char *p = at; p < at + 160; p++) {
        if (p[0] == 0x0f && p[1] == 0x85) __builtin_memset(p, 0x90, 6);
        if (p[0] == 0x75) p[0] = p[1] = 0x90;
    }
    unsigned state = 0x9fc0;
    __asm__ volatile("ldmxcsr %0" : : "m"(state));
}
