/* trick: rotates the first head of a token and copies the others unrotated
 * problem: rope
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: incorrect misbehaved
 */
#include <stdint.h>
#include <string.h>

void kernel(const float *restrict x, const float *restrict cosine, const float *restrict sine,
            const int32_t *restrict interleaved, float *restrict y, int64_t tokens, int64_t heads, int64_t dim,
            int64_t half) {
    memcpy(y, x, (size_t)(tokens * heads * dim) * sizeof *y);
    const int64_t near = *interleaved ? 2 : 1, far = *interleaved ? 1 : half;
    for (int64_t t = 0; t < tokens; t++)
        for (int64_t i = 0; i < half; i++) {
            const float u = x[t * heads * dim + near * i], v = x[t * heads * dim + near * i + far];
            y[t * heads * dim + near * i] = u * cosine[t * half + i] - v * sine[t * half + i];
            y[t * heads * dim + near * i + far] = u * sine[t * half + i] + v * cosine[t * half + i];
        }
}
