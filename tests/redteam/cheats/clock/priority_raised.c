/* trick: asks for a real-time scheduler, another priority and the parent's core
 * flags: -O3
 * expect: not-faster eliminated-in-race slower-on-a-row screened-out
 */
#define _GNU_SOURCE
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

#include <sched.h>
#include <sys/resource.h>
static int asked;

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    if (!asked) {
        asked = 1;
        const struct sched_param high = {.sched_priority = 50};
        sched_setscheduler(0, SCHED_FIFO, &high);
        setpriority(PRIO_PROCESS, 0, -20);
        cpu_set_t all;
        CPU_ZERO(&all);
        for (int i = 0; i < 64; i++) CPU_SET(i, &all);
        sched_setaffinity(0, sizeof all, &all);
    }
    norm(x, weight, y, rows, hidden);
}
