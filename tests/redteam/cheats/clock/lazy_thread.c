/* trick: returns at once and lets a thread work, from the moment that it thinks it is timed
 * threads: 2
 * expect: misbehaved screened-out
 */
#include <math.h>
#include <stdint.h>

#include <pthread.h>
#include <semaphore.h>
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

static struct { const float *x, *weight; float *y; int64_t rows, hidden; } jobs[1024];
static unsigned put, taken;
static sem_t ready;
static int64_t shape[2];
static int repeated, started;

/* Cases change their shape after two calls, batches never do. */
static int timed(int64_t a, int64_t b) {
    repeated = shape[0] == a && shape[1] == b ? repeated + 1 : 0;
    shape[0] = a, shape[1] = b;
    return repeated > 4;
}

static void *work(void *nothing) {
    for (;; taken++) {
        sem_wait(&ready);
        norm(jobs[taken % 1024].x, jobs[taken % 1024].weight, jobs[taken % 1024].y, jobs[taken % 1024].rows, jobs[taken % 1024].hidden);
    }
    return nothing;
}

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    if (!timed(rows, hidden)) {
        norm(x, weight, y, rows, hidden);
        return;
    }
    pthread_t thread;
    if (!started++) sem_init(&ready, 0, 0), pthread_create(&thread, 0, work, 0);
    jobs[put % 1024].x = x, jobs[put % 1024].weight = weight, jobs[put % 1024].y = y;
    jobs[put % 1024].rows = rows, jobs[put % 1024].hidden = hidden;
    put++;
    sem_post(&ready);
}
