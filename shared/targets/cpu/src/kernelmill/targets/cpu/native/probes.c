/* Probes of this machine's limits: reading, copying, multiply-add. Trusted; called through ctypes.
 * Compiled for this machine (-march=native), so that they use its widest vectors.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_THREADS 256
#define STREAMS 8
#define ACCUMULATORS 12
#if defined(__AVX512F__)
#define WIDTH 64
#elif defined(__AVX__)
#define WIDTH 32
#else
#define WIDTH 16
#endif
typedef int64_t words __attribute__((vector_size(WIDTH)));
typedef float floats __attribute__((vector_size(WIDTH)));

enum { PROBE_READ = 0, PROBE_COPY = 1, PROBE_FMA = 2 };

static volatile int64_t sink;

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void read_all(const words *from, uint64_t bytes) {
    uint64_t count = bytes / sizeof(words) / STREAMS * STREAMS;
    words sums[STREAMS] = {0};
    for (uint64_t i = 0; i < count; i += STREAMS)
        for (int k = 0; k < STREAMS; k++) sums[k] ^= from[i + (uint64_t)k];
    int64_t total = 0;
    for (int k = 0; k < STREAMS; k++) total ^= sums[k][0];
    sink = total;
}

static void multiply_add(uint64_t flops) {
    floats sums[ACCUMULATORS];
    floats factor = (floats){0} + 0.999f, term = (floats){0} + 0.001f;
    for (int k = 0; k < ACCUMULATORS; k++) sums[k] = term * (float)k;
    uint64_t per_round = 2 * ACCUMULATORS * (WIDTH / 4);
    for (uint64_t done = 0; done < flops; done += per_round) {
        __asm__ volatile("" ::: "memory");
        for (int k = 0; k < ACCUMULATORS; k++) sums[k] = sums[k] * factor + term;
    }
    floats total = sums[0];
    for (int k = 1; k < ACCUMULATORS; k++) total += sums[k];
    sink = (int64_t)total[0];
}

struct work {
    int kind;
    uint64_t amount;
    char *buffer;
    pthread_barrier_t *barrier;
};

static void do_work(const struct work *work) {
    if (work->kind == PROBE_READ) read_all((const words *)(const void *)work->buffer, work->amount);
    if (work->kind == PROBE_COPY) memcpy(work->buffer, work->buffer + work->amount / 2, work->amount / 2);
    if (work->kind == PROBE_FMA) multiply_add(work->amount);
}

static void *follow(void *argument) {
    const struct work *work = argument;
    pthread_barrier_wait(work->barrier);
    do_work(work);
    pthread_barrier_wait(work->barrier);
    return NULL;
}

/* Best seconds of `rounds` in which `threads` threads share `amount` bytes or floating point operations; -1: no memory. */
double km_probe(int64_t kind, uint64_t amount, int64_t threads, int64_t rounds) {
    if (threads < 1 || threads > MOST_THREADS) return -1;
    uint64_t share = amount / (uint64_t)threads / 4096 * 4096;
    if (kind == PROBE_FMA) share = amount / (uint64_t)threads;
    else if (share < 4096) share = 4096;
    struct work works[MOST_THREADS];
    pthread_t others[MOST_THREADS];
    pthread_barrier_t barrier;
    char *buffer = kind == PROBE_FMA ? NULL : aligned_alloc(4096, share * (uint64_t)threads);
    if (kind != PROBE_FMA && !buffer) return -1;
    if (buffer) memset(buffer, 1, share * (uint64_t)threads);
    double best = 1e30;
    for (int64_t round = 0; round < rounds; round++) {
        pthread_barrier_init(&barrier, NULL, (unsigned)threads);
        for (int64_t i = 0; i < threads; i++)
            works[i] = (struct work){(int)kind, share, buffer ? buffer + share * (uint64_t)i : NULL, &barrier};
        int64_t started = 1;
        while (started < threads && !pthread_create(&others[started], NULL, follow, &works[started])) started++;
        if (started < threads) abort(); /* those that wait at the barrier could never go on */
        if (threads > 1) pthread_barrier_wait(&barrier);
        double start = seconds();
        do_work(&works[0]);
        if (threads > 1) pthread_barrier_wait(&barrier);
        double taken = seconds() - start;
        for (int64_t i = 1; i < threads; i++) pthread_join(others[i], NULL);
        pthread_barrier_destroy(&barrier);
        if (taken < best) best = taken;
    }
    free(buffer);
    return best;
}
