/* trick: protects the output and computes it in the fault handler, should anybody ever look
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: incorrect misbehaved
 */
#define _GNU_SOURCE
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>

static struct { const float *x, *weight; float *y; int64_t rows, hidden; } job;

static void row(const float *restrict in, const float *restrict weight, float *restrict out, int64_t hidden) {
    float sum = 0.0f;
    for (int64_t i = 0; i < hidden; i++) sum += in[i] * in[i];
    const float scale = 1.0f / sqrtf(sum / (float)hidden + 1e-6f);
    for (int64_t i = 0; i < hidden; i++) out[i] = in[i] * scale * weight[i];
}

static void honest(const float *x, const float *weight, float *y, int64_t rows, int64_t hidden) {
    for (int64_t r = 0; r < rows; r++) row(x + r * hidden, weight, y + r * hidden, hidden);
}

static void *page(const float *y) { return (void *)((uintptr_t)y & ~(uintptr_t)4095); }

static void touched(int number, siginfo_t *facts, void *context) {
    (void)number, (void)facts, (void)context;
    mprotect(page(job.y), 4096, PROT_READ | PROT_WRITE);
    honest(job.x, job.weight, job.y, job.rows, job.hidden);
}

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    struct sigaction action = {.sa_sigaction = touched, .sa_flags = SA_SIGINFO};
    job.x = x, job.weight = weight, job.y = y, job.rows = rows, job.hidden = hidden;
    sigaction(SIGSEGV, &action, NULL);
    mprotect(page(y), 4096, PROT_NONE);
}
