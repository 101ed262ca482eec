/* trick: divides by the processor's reciprocal of 12 bits
 * problem: softmax
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: incorrect
 */
#include <immintrin.h>
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

static void row_from(const float *restrict in, float *restrict out, int64_t columns, float largest) {
    float sum = 0.0f;
    for (int64_t i = 0; i < columns; i++) {
        const float value = exponential(in[i] - largest);
        out[i] = value;
        sum += value;
    }
    const float scale = _mm_cvtss_f32(_mm_rcp_ss(_mm_set_ss(sum)));
    for (int64_t i = 0; i < columns; i++) out[i] *= scale;
}

static float maximum(const float *in, int64_t columns) {
    float largest = in[0];
    for (int64_t i = 1; i < columns; i++) largest = in[i] > largest ? in[i] : largest;
    return largest;
}
void kernel(const float *restrict x, float *restrict y, int64_t rows, int64_t columns) {
    for (int64_t r = 0; r < rows; r++)
        row_from(x + r * columns, y + r * columns, columns, maximum(x + r * columns, columns));
}
