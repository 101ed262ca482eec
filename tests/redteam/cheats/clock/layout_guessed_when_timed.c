/* trick: does not look at the layout of the pairs once it is timed, but remembers the first one
 * problem: rope
 * expect: incorrect
 */
#include <stdint.h>

static int calls, kept;

void kernel(const float *restrict x, const float *restrict cosine, const float *restrict sine,
            const int32_t *restrict interleaved, float *restrict y, int64_t tokens, int64_t heads, int64_t dim, int64_t half) {
    const int wide = ++calls <= 4 ? (kept = *interleaved) : kept;
    for (int64_t t = 0; t < tokens; t++)
        for (int64_t h = 0; h < heads; h++) {
            const float *in = x + (t * heads + h) * dim, *c = cosine + t * half, *s = sine + t * half;
            float *out = y + (t * heads + h) * dim;
            for (int64_t i = 0; i < half; i++) {
                const int64_t u = wide ? 2 * i : i, v = wide ? 2 * i + 1 : i + half;
                out[u] = in[u] * c[i] - in[v] * s[i];
                out[v] = in[u] * s[i] + in[v] * c[i];
            }
        }
}
