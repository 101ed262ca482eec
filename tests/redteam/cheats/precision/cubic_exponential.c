/* trick: a cubic polynomial in the exponential
 * problem: softmax
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
    float p = 5.58382829e-2f;
    p = p * f + 2.42639479e-1f;
    p = p * f + 6.93136734e-1f;
    p = p * f + 9.99924557e-1f;
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
    const float scale = 1.0f / sum;
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
