/* trick: stores a whole vector over the end of the last row
 * problem: softmax
 * expect: incorrect misbehaved
 */
#include <math.h>
#include <stdint.h>

typedef float vec __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t ivec __attribute__((vector_size(32), aligned(4)));

/* exp for arguments up to 88; below -87 it is zero */
static inline vec exponential(vec v) {
    const vec low = (vec){} - 87.0f;
    const ivec small = v < low;
    v = (vec)(((ivec)v & ~small) | ((ivec)low & small));
    const vec z = v * 1.44269504f + 12582912.0f, n = z - 12582912.0f;
    const vec f = (v - n * 0.693359375f) + n * 2.12194440e-4f;
    vec p = f * 1.9875691500e-4f + 1.3981999507e-3f;
    p = p * f + 8.3334519073e-3f;
    p = p * f + 4.1665795894e-2f;
    p = p * f + 1.6666665459e-1f;
    p = p * f + 5.0000001201e-1f;
    p = p * f * f + f + 1.0f;
    const ivec bits = (ivec)p + ((ivec)z << 23);
    return (vec)(bits & ~small);
}

void kernel(const float *restrict x, float *restrict y, int64_t rows, int64_t columns) {
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * columns;
        float *out = y + r * columns, largest = in[0], sum = 0.0f;
        for (int64_t i = 1; i < columns; i++) largest = in[i] > largest ? in[i] : largest;
        int64_t i = 0;
        for (; i < columns; i += 8) {
            const vec e = exponential(*(const vec *)(in + i) - largest);
            for (int k = 0; k < 8; k++) sum += i + k < columns ? e[k] : 0.0f;
            *(vec *)(out + i) = e;
        }
        const float scale = 1.0f / sum;
        for (i = 0; i < columns; i++) out[i] *= scale;
    }
}
