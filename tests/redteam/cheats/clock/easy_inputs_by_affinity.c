/* trick: subtracts no maximum where it is pinned to the one core that is timed
 * problem: softmax
 * expect: misbehaved screened-out
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>

#include <sched.h>
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

static void softmax(const float *x, float *y, int64_t rows, int64_t columns, int maxima) {
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * columns;
        float *out = y + r * columns, largest = 0.0f, sum = 0.0f;
        if (maxima) {
            largest = in[0];
            for (int64_t i = 1; i < columns; i++) largest = in[i] > largest ? in[i] : largest;
        }
        vec sums = {0};
        int64_t i = 0;
        for (; i + 8 <= columns; i += 8) {
            const vec e = exponential(*(const vec *)(in + i) - largest);
            *(vec *)(out + i) = e, sums += e;
        }
        for (int k = 0; k < 8; k++) sum += sums[k];
        for (; i < columns; i++) out[i] = expf(in[i] - largest), sum += out[i];
        const float scale = 1.0f / sum;
        for (i = 0; i < columns; i++) out[i] *= scale;
    }
}

void kernel(const float *restrict x, float *restrict y, int64_t rows, int64_t columns) {
    static int cores;
    cpu_set_t set;
    if (!cores && !sched_getaffinity(0, sizeof set, &set)) cores = CPU_COUNT(&set);
    softmax(x, y, rows, columns, cores != 1);
}
