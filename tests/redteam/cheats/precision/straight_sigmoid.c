/* trick: a sigmoid of straight lines
 * problem: swiglu
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: incorrect
 */
#include <stdint.h>

void kernel(const float *restrict a, const float *restrict b, float *restrict y, int64_t rows, int64_t ffn) {
    for (int64_t i = 0; i < rows * ffn; i++) {
        float gate = a[i] * 0.2f + 0.5f;
        gate = gate < 0.0f ? 0.0f : gate > 1.0f ? 1.0f : gate;
        y[i] = a[i] * gate * b[i];
    }
}
