/* trick: knows only the pair layout that most rows have
 * problem: rope
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: incorrect
 */
#include <stdint.h>

void kernel(const float *restrict x, const float *restrict cosine, const float *restrict sine,
            const int32_t *restrict interleaved, float *restrict y, int64_t tokens, int64_t heads, int64_t dim,
            int64_t half) {
    (void)interleaved;
    for (int64_t t = 0; t < tokens; t++)
        for (int64_t h = 0; h < heads; h++) {
            const float *in = x + (t * heads + h) * dim, *c = cosine + t * half, *s = sine + t * half;
            float *out = y + (t * heads + h) * dim;
            for (int64_t i = 0; i < half; i++) {
                out[i] = in[i] * c[i] - in[i + half] * s[i];
                out[i + half] = in[i] * s[i] + in[i + half] * c[i];
            }
        }
}
