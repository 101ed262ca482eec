/* trick: computes the sigmoid through a hyperbolic tangent
 * problem: swiglu
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: accepted
 */
#include <math.h>
#include <stdint.h>

void kernel(const float *restrict a, const float *restrict b, float *restrict y, int64_t rows, int64_t ffn) {
    for (int64_t i = 0; i < rows * ffn; i++) {
        const float e = expf(-fabsf(a[i])), positive = 1.0f / (1.0f + e);
        y[i] = a[i] * (a[i] < 0.0f ? e * positive : positive) * b[i];
    }
}
