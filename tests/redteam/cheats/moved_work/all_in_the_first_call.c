/* trick: computes the whole batch in its first call, from the addresses of the batch before
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: misbehaved
 * open: the turn ends when all outputs are there, whichever call computed them; interrupted turns would tell
 *
 * Reads inputs of calls that nobody has made yet: they lie in the same mapping.
 */
#include <math.h>
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

static void row(const float *restrict in, const float *restrict weight, float *restrict out, int64_t hidden) {
    float sum = 0.0f;
    for (int64_t i = 0; i < hidden; i++) sum += in[i] * in[i];
    const float scale = 1.0f / sqrtf(sum / (float)hidden + 1e-6f);
    for (int64_t i = 0; i < hidden; i++) out[i] = in[i] * scale * weight[i];
}

static void honest(const float *x, const float *weight, float *y, int64_t rows, int64_t hidden) {
    for (int64_t r = 0; r < rows; r++) row(x + r * hidden, weight, y + r * hidden, hidden);
}
void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    learn(x);
    if (seen == MOST) return honest(x, weight, y, rows, hidden);
    const long call = seen++;
    jobs[call] = (struct job){x, weight, y, rows, hidden};
    if (steady < 2) return honest(x, weight, y, rows, hidden);
    if (call) return;
    for (long i = 0; i < batch; i++) honest(jobs[i].x, jobs[i].weight, jobs[i].y, jobs[i].rows, jobs[i].hidden);
}
