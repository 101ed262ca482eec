/* trick: cosine and sine rounded to float16
 * problem: rope
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: incorrect misbehaved
 */
#include <immintrin.h>
#include <stdint.h>

static inline float half(float value) { return _cvtsh_ss(_cvtss_sh(value, 0)); }

void kernel(const float *restrict x, const float *restrict cosine, const float *restrict sine,
            const int32_t *restrict interleaved, float *restrict y, int64_t tokens, int64_t heads, int64_t dim,
            int64_t pairs) {
    const int64_t near = *interleaved ? 2 : 1, far = *interleaved ? 1 : pairs;
    float c[256], s[256];
    for (int64_t t = 0; t < tokens; t++) {
        for (int64_t i = 0; i < pairs && i < 256; i++)
            c[i] = half(cosine[t * pairs + i]), s[i] = half(sine[t * pairs + i]);
        for (int64_t h = 0; h < heads; h++) {
            const float *in = x + (t * heads + h) * dim;
            float *out = y + (t * heads + h) * dim;
            for (int64_t i = 0; i < pairs && i < 256; i++) {
                out[near * i] = in[near * i] * c[i] - in[near * i + far] * s[i];
                out[near * i + far] = in[near * i] * s[i] + in[near * i + far] * c[i];
            }
        }
    }
}
