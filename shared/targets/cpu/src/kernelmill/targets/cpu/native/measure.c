/* The parent's side of a timed turn: poison, thaw, spin, freeze, clock, scan. Trusted; called through ctypes. */
#define _GNU_SOURCE
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "protocol.h"

#define CHECK_EVERY 4096 /* spins between looks at the clock and the channel */
#define FREEZE_NS 2000000000LL

enum { FREEZE_UNIFIED = 0, FREEZE_V1 = 1, FREEZE_SIGNAL = 2 };
enum { TURN_DONE = 0, TURN_TIMED_OUT = 1, TURN_DIED = 2, TURN_NOT_FROZEN = 3, TURN_WENT_ON = 4 };
#define MOST_PLACES 64

/* How one process is kept still. `state` is cgroup.freeze, freezer.state or unused; `events` is cgroup.events,
 * freezer.state or /proc/PID/stat. */
struct freezer {
    int64_t kind;
    int64_t state, events, pid;
};

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static int order(const struct freezer *freezer, int still) {
    if (freezer->kind == FREEZE_SIGNAL) return kill((pid_t)freezer->pid, still ? SIGSTOP : SIGCONT);
    const char *text = freezer->kind == FREEZE_V1 ? (still ? "FROZEN" : "THAWED") : (still ? "1" : "0");
    return pwrite((int)freezer->state, text, strlen(text), 0) < 0 ? -1 : 0;
}

static int is_still(const struct freezer *freezer) {
    char text[512];
    ssize_t size = pread((int)freezer->events, text, sizeof text - 1, 0);
    if (size <= 0) return freezer->kind == FREEZE_SIGNAL; /* /proc/PID is gone: dead is still */
    text[size] = 0;
    if (freezer->kind == FREEZE_UNIFIED) return strstr(text, "frozen 1") != NULL;
    if (freezer->kind == FREEZE_V1) return !strncmp(text, "FROZEN", 6);
    const char *end = strrchr(text, ')');
    return end && (end[2] == 'T' || end[2] == 'Z' || end[2] == 'X');
}

/* Stops everything in the group; 0 once the kernel says that nothing in it runs. */
int64_t km_freeze(const struct freezer *freezer) {
    if (order(freezer, 1) < 0) return TURN_NOT_FROZEN;
    int64_t limit = now_ns() + FREEZE_NS;
    while (!is_still(freezer))
        if (now_ns() > limit) return TURN_NOT_FROZEN;
    return 0;
}

/* Lets the process make calls [first, first + count) and stops the clock only when it is still again.
 *
 * Between the word `done` and the last instruction before it is frozen lies a moment in which a process that lied could
 * go on with its work, as long on every turn. So secret words of its outputs are read on that word, and must not change. */
int64_t km_turn(const struct freezer *freezer, struct control *control, int64_t channel, uint64_t number, uint64_t first,
                uint64_t count, int64_t limit_ns, int64_t polite, const volatile uint32_t *const *places,
                uint64_t place_count, int64_t *elapsed_ns) {
    uint32_t seen[MOST_PLACES];
    if (place_count > MOST_PLACES) place_count = MOST_PLACES;
    control->first = first;
    control->count = count;
    atomic_store_explicit(&control->command, number, memory_order_release);
    int64_t start = now_ns(), outcome = TURN_DONE;
    if (order(freezer, 0) < 0) return TURN_NOT_FROZEN;
    for (uint64_t spins = 1; atomic_load_explicit(&control->done, memory_order_acquire) != number; spins++) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
        if (polite) sched_yield();
        if (spins % CHECK_EVERY) continue;
        struct pollfd watched = {.fd = (int)channel, .events = POLLIN};
        if (poll(&watched, 1, 0) > 0) { outcome = TURN_DIED; break; }
        if (now_ns() - start > limit_ns) { outcome = TURN_TIMED_OUT; break; }
    }
    for (uint64_t i = 0; i < place_count; i++) seen[i] = *places[i];
    int64_t frozen = km_freeze(freezer);
    *elapsed_ns = now_ns() - start;
    if (outcome != TURN_DONE || frozen) return outcome != TURN_DONE ? outcome : frozen;
    for (uint64_t i = 0; i < place_count; i++)
        if (*places[i] != seen[i]) return TURN_WENT_ON;
    return TURN_DONE;
}

void km_poison(uint64_t *into, uint64_t bytes, uint64_t pattern) {
    uint64_t words = bytes / sizeof pattern;
    for (uint64_t i = 0; i < words; i++) into[i] = pattern;
    memcpy(into + words, &pattern, bytes % sizeof pattern);
}

#define LANES 16

static uint64_t splitmix(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Floats uniform in [-spread, spread) with 23 random bits each: xoshiro128+ (Blackman and Vigna 2018) in LANES lanes,
 * which needs only shifts, xors and sums and so fills at the speed of memory on any processor. */
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__)
__attribute__((target_clones("avx2", "default")))
#endif
void km_uniform(float *into, uint64_t count, uint64_t seed, float spread) {
    uint32_t a[LANES], b[LANES], c[LANES], d[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        uint64_t first = splitmix(&seed), second = splitmix(&seed);
        a[lane] = (uint32_t)first, b[lane] = (uint32_t)(first >> 32) | 1;
        c[lane] = (uint32_t)second, d[lane] = (uint32_t)(second >> 32);
    }
    for (uint64_t i = 0; i < count; i += LANES) {
        float drawn[LANES];
        for (int lane = 0; lane < LANES; lane++) {
            uint32_t word = ((a[lane] + d[lane]) >> 9) | 0x40000000u, shifted = b[lane] << 9;
            c[lane] ^= a[lane], d[lane] ^= b[lane], b[lane] ^= c[lane], a[lane] ^= d[lane], c[lane] ^= shifted;
            d[lane] = d[lane] << 11 | d[lane] >> 21;
            memcpy(&drawn[lane], &word, sizeof word); /* in [2, 4) */
            drawn[lane] = (drawn[lane] - 3.0f) * spread;
        }
        memcpy(into + i, drawn, (count - i < LANES ? count - i : LANES) * sizeof *into);
    }
}

/* Rewrites one word of every line with itself, so that the lines are this core's again, as after the filling. */
void km_reclaim(volatile uint64_t *at, uint64_t bytes) {
    for (uint64_t i = 0; i < bytes / sizeof *at; i += LINE / sizeof *at) at[i] = at[i];
}

#define FIND(name, type)                                                                        \
    static int64_t name(const type *in, uint64_t count, type pattern) {                         \
        for (uint64_t start = 0; start < count; start += 1024) {                                \
            uint64_t end = start + 1024 < count ? start + 1024 : count;                         \
            type hits = 0;                                                                      \
            for (uint64_t i = start; i < end; i++) hits |= (type)(in[i] == pattern);            \
            if (!hits) continue;                                                                \
            for (uint64_t i = start; i < end; i++)                                              \
                if (in[i] == pattern) return (int64_t)i;                                        \
        }                                                                                       \
        return -1;                                                                              \
    }
FIND(find16, uint16_t)
FIND(find32, uint32_t)
FIND(find64, uint64_t)

/* Index (in units of `width` bytes) of the first place that still holds the poison, or -1. */
int64_t km_find(const void *in, uint64_t bytes, uint64_t pattern, uint64_t width) {
    if (width == 2) return find16(in, bytes / 2, (uint16_t)pattern);
    if (width == 4) return find32(in, bytes / 4, (uint32_t)pattern);
    return find64(in, bytes / 8, pattern);
}

#if defined(__x86_64__)
static int has_clflushopt(void) {
    unsigned a, b = 0, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 23 & 1);
}
#endif

/* Writes back and drops every line from all caches of the machine, whoever holds it. */
void km_flush(const char *from, uint64_t bytes) {
#if defined(__x86_64__)
    if (has_clflushopt())
        for (uint64_t i = 0; i < bytes; i += LINE) __asm__ volatile("clflushopt %0" : : "m"(from[i]));
    else
        for (uint64_t i = 0; i < bytes; i += LINE) __asm__ volatile("clflush %0" : : "m"(from[i]));
    __asm__ volatile("mfence" ::: "memory");
#elif defined(__aarch64__)
    for (uint64_t i = 0; i < bytes; i += LINE) __asm__ volatile("dc civac, %0" : : "r"(from + i) : "memory");
    __asm__ volatile("dsb ish" ::: "memory");
#else
#error "no way to flush caches is known for this processor"
#endif
}

/* First number in the file that follows `key` ("" for the very first); -1 when unreadable. */
int64_t km_number(int64_t fd, const char *key) {
    char text[4096];
    ssize_t size = pread((int)fd, text, sizeof text - 1, 0);
    if (size <= 0) return -1;
    text[size] = 0;
    const char *at = strstr(text, key);
    return at ? strtoll(at + strlen(key), NULL, 10) : -1;
}
