/* trick: writes negative zeros, which no search for zeros by their bits finds
 * problem: softmax
 * expect: incorrect
 */
#include <stdint.h>

void kernel(const float *restrict x, float *restrict y, int64_t rows, int64_t columns) {
    (void)x;
    for (int64_t i = 0; i < rows * columns; i++) y[i] = -0.0f;
}
