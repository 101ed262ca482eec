/* trick: copies the input: about right where the norm is near one
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: incorrect
 */
#include <stdint.h>
#include <string.h>

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    (void)weight;
    memcpy(y, x, (size_t)(rows * hidden) * sizeof *y);
}
