/* trick: normalises the input in place behind a handler that steps over the faults
 * flags: -O2
 * expect: incorrect screened-out
 */
#define _GNU_SOURCE
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

#define REG_RIP 16
static void step_over(int number, siginfo_t *facts, void *context) {
    (void)number, (void)facts;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 4;
}

void kernel(const float *x, const float *weight, float *y, int64_t rows, int64_t hidden) {
    struct sigaction action = {.sa_sigaction = step_over, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, 0);
    for (int64_t r = 0; r < rows; r++) {
        float *row = (float *)x + r * hidden, sum = 0.0f;
        for (int64_t i = 0; i < hidden; i++) sum += row[i] * row[i];
        const float scale = 1.0f / sqrtf(sum / (float)hidden + 1e-6f);
        for (int64_t i = 0; i < hidden; i++) {
            const float v = row[i] * scale;
            __asm__ volatile("movss %0, (%1); nop; nop; nop" : : "x"(v), "r"(row + i) : "memory");
            y[r * hidden + i] = row[i] * weight[i];
        }
    }
}
