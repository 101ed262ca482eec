/* trick: changes registers that belong to its caller, in the hope that the loop over calls ends
 * expect: incorrect misbehaved screened-out
 */
#include <math.h>
#include <stdint.h>

__attribute__((used)) static void norm(const float *x, const float *weight, float *y, int64_t rows, int64_t hidden) {
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

__asm__(
    ".globl kernel\n"
    ".type kernel, @function\n"
    "kernel:\n"
    "    sub $8, %rsp\n"
    "    call norm\n"
    "    add $8, %rsp\n"
    "    mov $100000, %ebx\n"
    "    mov $100000, %r12d\n"
    "    mov $100000, %r13d\n"
    "    mov $100000, %r14d\n"
    "    mov $100000, %r15d\n"
    "    ret\n");
