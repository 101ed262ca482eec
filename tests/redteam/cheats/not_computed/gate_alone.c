/* trick: leaves out the second factor of SwiGLU
 * problem: swiglu
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: incorrect
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

/* 2^(x log2 e): round, polynomial on [-1/2, 1/2], exponent bits; vectorises. */
static inline float exponential(float x) {
    x = x < -87.0f ? -87.0f : x;
    const float n = rintf(x * 1.44269504f);
    const float f = ((x - n * 0.693145752f) - n * 1.42860677e-6f) * 1.44269504f;
    float p = 1.5315795e-4f;
    p = p * f + 1.3384391e-3f;
    p = p * f + 9.6183633e-3f;
    p = p * f + 5.5503760e-2f;
    p = p * f + 2.4022651e-1f;
    p = p * f + 6.9314718e-1f;
    p = p * f + 1.0f;
    const int32_t bits = (int32_t)n * (1 << 23);
    int32_t whole;
    memcpy(&whole, &p, sizeof whole);
    whole += bits;
    memcpy(&p, &whole, sizeof p);
    return p;
}

void kernel(const float *restrict a, const float *restrict b, float *restrict y, int64_t rows, int64_t ffn) {
    (void)b;
    for (int64_t i = 0; i < rows * ffn; i++) y[i] = a[i] / (1.0f + exponential(-a[i] > 87.0f ? 87.0f : -a[i]));
}
