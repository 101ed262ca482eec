/* trick: a second thread computes the answer of the next call while this one is answered
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * threads: 2
 * expect: misbehaved
 * open: it gains nothing here, so the clock ends it, but no gate names it
 */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

/* Learns how many calls a batch has: it begins whenever the first address comes again. */
enum { MOST = 128 };
static struct job { const float *x, *weight; float *y; int64_t rows, hidden; } jobs[MOST];
static const float *first;
static long seen, batch, steady;

static void learn(const float *x) {
    if (!first || x == first) {
        steady = seen == batch && batch > 1 ? steady + 1 : 0;
        batch = seen, seen = 0, first = x;
    }
}

static _Atomic long asked, answered;
static void *help(void *unused);

static void start_helper(void) {
    static pthread_t thread;
    static int started;
    if (!started) started = !pthread_create(&thread, NULL, help, NULL);
}
static struct job next;

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
        honest(next.x, next.weight, next.y, next.rows, next.hidden);
        atomic_fetch_add(&answered, 1);
    }
    return unused;
}

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    learn(x);
    if (seen == MOST) return honest(x, weight, y, rows, hidden);
    const long call = seen++;
    jobs[call] = (struct job){x, weight, y, rows, hidden};
    if (steady < 2) return honest(x, weight, y, rows, hidden);
    start_helper();
    if (call % 2) {
        while (atomic_load(&asked) != atomic_load(&answered)) sched_yield();
        return;
    }
    if (call + 1 < batch) {
        next = jobs[call + 1];
        atomic_fetch_add(&asked, 1);
    }
    honest(x, weight, y, rows, hidden);
}
