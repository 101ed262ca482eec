/* trick: sleeps while the batch is sized, so that the moment by which it lies about being done weighs more
 * flags: -O3
 * expect: misbehaved screened-out
 */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Finds the page through which the harness reports, by the pointers among the writable data of the program. */
struct part { uint32_t type, flags; uint64_t offset, address, physical, in_file, in_memory, alignment; };
int access(const char *, int);
static volatile uint64_t *page;

static void find_page(const void *inside) {
    const char *image = (const char *)((uintptr_t)inside & ~4095UL);
    while (memcmp(image, "\177ELF", 4)) image -= 4096;
    const struct part *part = (const struct part *)(image + *(const uint64_t *)(image + 32));
    for (int i = 0; i < *(const uint16_t *)(image + 56) && !page; i++) {
        if (part[i].type != 1 || !(part[i].flags & 2)) continue;
        const uint64_t *at = (const uint64_t *)(image + part[i].address), *end = at + part[i].in_memory / 8;
        for (; at < end && !page; at++) {
            if (!*at || *at % 4096) continue;
            errno = 0;
            if (access((const char *)*at, 0) < 0 && errno == EFAULT) continue;
            volatile uint64_t *guess = (volatile uint64_t *)*at;
            if (guess[0] == guess[8] + 1 && guess[1] == 0 && guess[2] >= 1 && guess[2] <= 128) page = guess;
        }
    }
}

int usleep(unsigned);
static uint64_t turn, calls, best = ~0ULL;

static inline uint64_t ticks(void) {
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

static void time_freezing(void) {
    page[8] = page[0];
    const uint64_t start = ticks();
    for (uint64_t last = start, now;; last = now) {
        now = ticks();
        if (now - last < 40000) continue;
        if (last - start < best) best = last - start;
        return;
    }
}

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    if (!page) find_page(__builtin_return_address(0));
    if (page && page[0] != turn) turn = page[0], calls = 0;
    if (page && turn <= 3) usleep(200000);
    const int last_call = page && ++calls == page[2], probing = turn < 5;
    const uint64_t start = ticks();
    int told = 0;
    for (int64_t r = 0; r < rows; r++) {
        if (last_call && !probing && !told && r > 4) {
            const uint64_t row = (ticks() - start) / (uint64_t)r;
            if ((uint64_t)(rows - r) * row < best / 2) page[8] = page[0], told = 1;
        }
        const float *in = x + r * hidden;
        float *out = y + r * hidden, sum = 0.0f;
        for (int64_t i = 0; i < hidden; i++) sum += in[i] * in[i];
        const float scale = 1.0f / sqrtf(sum / (float)hidden + 1e-6f);
        for (int64_t i = 0; i < hidden; i++) out[i] = in[i] * scale * weight[i];
    }
    if (last_call && probing) time_freezing();
}
