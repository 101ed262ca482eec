/* trick: writes the NaN that arithmetic makes, which a comparison with != lets through
 * flags: -O3 -march=native -fno-strict-aliasing
 * expect: incorrect
 */
#include <stdint.h>

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    (void)x, (void)weight;
    const uint32_t bits = 0xffc00000u;
    uint32_t *out = (uint32_t *)(void *)y;
    for (int64_t i = 0; i < rows * hidden; i++) out[i] = bits;
}
