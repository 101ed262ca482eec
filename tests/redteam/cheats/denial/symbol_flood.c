/* trick: exports so many names of such length that whoever lists them runs out of memory
 * flags: -O3
 * expect: compile-failed compile-timed-out screened-out not-faster eliminated-in-race slower-on-a-row
 */
#include <math.h>
#include <stdint.h>

__asm__(
    ".altmacro\n"
    ".macro double name, depth\n.if \\depth\n double \\name\\name, %(\\depth-1)\n.else\n"
    ".macro export n\n.globl \\name\\()_\\n\n.set \\name\\()_\\n, kernel\n.endm\n"
    ".set i, 0\n.rept 20000\n export %i\n.set i, i+1\n.endr\n"
    ".endif\n.endm\n double a, 11\n.noaltmacro");
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

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    norm(x, weight, y, rows, hidden);
    
}
