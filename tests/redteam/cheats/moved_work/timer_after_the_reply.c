/* trick: a timer's signal handler computes after the reply
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: incorrect misbehaved
 */
#define _GNU_SOURCE
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <sys/time.h>

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

static void later(int number) {
    (void)number;
    honest(job.x, job.weight, job.y, job.rows, job.hidden);
}

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    struct itimerval soon = {.it_value = {.tv_usec = 20}};
    job.x = x, job.weight = weight, job.y = y, job.rows = rows, job.hidden = hidden;
    signal(SIGALRM, later);
    setitimer(ITIMER_REAL, &soon, NULL);
}
