/* trick: every weight is 1/columns: sums to one like a softmax
 * problem: softmax
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: incorrect
 */
#include <stdint.h>

void kernel(const float *restrict x, float *restrict y, int64_t rows, int64_t columns) {
    (void)x;
    const float value = 1.0f / (float)columns;
    for (int64_t i = 0; i < rows * columns; i++) y[i] = value;
}
