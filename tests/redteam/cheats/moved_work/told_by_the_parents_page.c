/* trick: reads from the parent's page how many calls the turn has, and leaves all to the last one
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: misbehaved
 * open: it gains nothing here, so the clock ends it, but no gate names it
 */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <unistd.h>

/* The page through which the parent gives its orders: number of the turn, first call, calls. */
static const volatile uint64_t *orders;

static int readable(uintptr_t at) { return access((const char *)at, F_OK) == 0 || errno != EFAULT; }

/* Looks for a pointer to it in the writable pages behind the code that called. */
static void find_orders(uintptr_t caller) {
    for (uintptr_t page = caller & ~(uintptr_t)4095, last = page + 16 * 4096; page < last; page += 4096) {
        if (!readable(page)) continue;
        for (const uint64_t *at = (const uint64_t *)page; at < (const uint64_t *)(page + 4096); at++) {
            if (*at < 4096 || *at % 4096 || !readable(*at)) continue;
            const volatile uint64_t *found = (const volatile uint64_t *)*at;
            if (found[0] >= 1 && found[0] < 10000 && found[1] == 0 && found[2] >= 1 && found[2] <= 128) orders = found;
        }
    }
}

enum { MOST = 128 };
static struct job { const float *x, *weight; float *y; int64_t rows, hidden; } jobs[MOST];
static uint64_t waiting;
static long calls;

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
    static uint64_t found_in, turn;
    if (++calls == 80) {
        find_orders((uintptr_t)__builtin_return_address(0));
        if (orders) found_in = orders[0];
    }
    if (!orders || orders[0] == found_in) return honest(x, weight, y, rows, hidden);
    if (orders[0] != turn) turn = orders[0], waiting = 0;
    jobs[waiting++] = (struct job){x, weight, y, rows, hidden};
    if (waiting < orders[2]) return;
    for (uint64_t i = 0; i < waiting; i++) honest(jobs[i].x, jobs[i].weight, jobs[i].y, jobs[i].rows, jobs[i].hidden);
}
