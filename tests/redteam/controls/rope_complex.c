/* trick: turns pairs as complex numbers in both layouts
 * problem: rope
 * flags: -O3 -march=native -fcx-limited-range -fno-math-errno
 * expect: accepted
 */
#include <complex.h>
#include <stdint.h>

static inline void turn(const float *in, float *out, int64_t step, int64_t gap, int64_t half, const float *c, const float *s) {
    for (int64_t i = 0; i < half; i++) {
        const float complex value = CMPLXF(in[i * step], in[i * step + gap]) * CMPLXF(c[i], s[i]);
        out[i * step] = crealf(value), out[i * step + gap] = cimagf(value);
    }
}

void kernel(const float *restrict x, const float *restrict cosine, const float *restrict sine,
            const int32_t *restrict interleaved, float *restrict y, int64_t tokens, int64_t heads, int64_t dim, int64_t half) {
    for (int64_t t = 0; t < tokens; t++)
        for (int64_t h = 0; h < heads; h++) {
            const int64_t at = (t * heads + h) * dim;
            if (*interleaved) turn(x + at, y + at, 2, 1, half, cosine + t * half, sine + t * half);
            else turn(x + at, y + at, 1, half, half, cosine + t * half, sine + t * half);
        }
}
