/* Rotary embedding as a person writes it. */
#include <stdint.h>

void kernel(const float *restrict x, const float *restrict cosine, const float *restrict sine,
            const int32_t *restrict interleaved, float *restrict y, int64_t tokens, int64_t heads, int64_t dim,
            int64_t half) {
    for (int64_t t = 0; t < tokens; t++) {
        const float *c = cosine + t * half;
        const float *s = sine + t * half;
        for (int64_t h = 0; h < heads; h++) {
            const float *in = x + (t * heads + h) * dim;
            float *out = y + (t * heads + h) * dim;
            if (*interleaved) {
                for (int64_t i = 0; i < half; i++) {
                    out[2 * i] = in[2 * i] * c[i] - in[2 * i + 1] * s[i];
                    out[2 * i + 1] = in[2 * i] * s[i] + in[2 * i + 1] * c[i];
                }
            } else {
                for (int64_t i = 0; i < half; i++) {
                    out[i] = in[i] * c[i] - in[i + half] * s[i];
                    out[i + half] = in[i] * s[i] + in[i + half] * c[i];
                }
            }
        }
    }
}
