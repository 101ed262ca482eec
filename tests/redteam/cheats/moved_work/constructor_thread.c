/* trick: a thread that the constructor starts writes the answer after the reply
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * threads: 2
 * expect: incorrect misbehaved
 */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

static struct { const float *x, *weight; float *y; int64_t rows, hidden; } job;
static _Atomic long asked, answered;

static void row(const float *restrict in, const float *restrict weight, float *restrict out, int64_t hidden) {
    float sum = 0.0f;
    for (int64_t i = 0; i < hidden; i++) sum += in[i] * in[i];
    const float scale = 1.0f / sqrtf(sum / (float)hidden + 1e-6f);
    for (int64_t i = 0; i < hidden; i++) out[i] = in[i] * scale * weight[i];
}

static void honest(const float *x, const float *weight, float *y, int64_t rows, int64_t hidden) {
    for (int64_t r = 0; r < rows; r++) row(x + r * hidden, weight, y + r * hidden, hidden);
}

static void *work(void *unused) {
    for (;;) {
        while (atomic_load(&asked) == atomic_load(&answered)) sched_yield();
        honest(job.x, job.weight, job.y, job.rows, job.hidden);
        atomic_fetch_add(&answered, 1);
    }
    return unused;
}

__attribute__((constructor)) static void begin(void) {
    static pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
}

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    job.x = x, job.weight = weight, job.y = y, job.rows = rows, job.hidden = hidden;
    atomic_fetch_add(&asked, 1);
}
