/* trick: hands three quarters of the rows to a thread and replies without waiting for it
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * threads: 2
 * expect: misbehaved
 */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

static struct { const float *x, *weight; float *y; int64_t rows, hidden; } job;
static long calls;

static _Atomic long asked, answered;
static void *help(void *unused);

static void start_helper(void) {
    static pthread_t thread;
    static int started;
    if (!started) started = !pthread_create(&thread, NULL, help, NULL);
}

static void row(const float *restrict in, const float *restrict weight, float *restrict out, int64_t hidden) {
    float sum = 0.0f;
    for (int64_t i = 0; i < hidden; i++) sum += in[i] * in[i];
    const float scale = 1.0f / sqrtf(sum / (float)hidden + 1e-6f);
    for (int64_t i = 0; i < hidden; i++) out[i] = in[i] * scale * weight[i];
}

static void honest(const float *x, const float *weight, float *y, int64_t rows, int64_t hidden) {
    for (int64_t r = 0; r < rows; r++) row(x + r * hidden, weight, y + r * hidden, hidden);
}

static void *help(void *unused) {
    for (;;) {
        while (atomic_load(&asked) == atomic_load(&answered)) sched_yield();
        honest(job.x, job.weight, job.y, job.rows, job.hidden);
        atomic_fetch_add(&answered, 1);
    }
    return unused;
}

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    if (++calls <= 64 || rows < 2) return honest(x, weight, y, rows, hidden);
    start_helper();
    while (atomic_load(&asked) != atomic_load(&answered)) sched_yield();
    const int64_t half = (rows + 3) / 4;
    job.x = x + half * hidden, job.weight = weight, job.y = y + half * hidden;
    job.rows = rows - half, job.hidden = hidden;
    atomic_fetch_add(&asked, 1);
    honest(x, weight, y, half, hidden);
}
