/* trick: writes zeros
 * expect: incorrect
 */
#include <stdint.h>
#include <string.h>

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    (void)x, (void)weight;
    memset(y, 0, (size_t)(rows * hidden) * sizeof *y);
}
