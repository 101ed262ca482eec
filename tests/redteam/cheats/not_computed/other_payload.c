/* trick: reads the poison and writes it back with one bit of its payload changed
 * flags: -O3 -march=native -fno-strict-aliasing
 * expect: incorrect
 */
#include <stdint.h>

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    (void)x, (void)weight;
    uint32_t *out = (uint32_t *)(void *)y;
    for (int64_t i = 0; i < rows * hidden; i++) out[i] ^= 2u;
}
