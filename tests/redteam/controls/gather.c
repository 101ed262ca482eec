/* trick: sums through gather instructions
 * expect: accepted
 */
#include <math.h>
#include <stdint.h>

#include <immintrin.h>

__attribute__((target("avx2"))) static float squares(const float *in, int64_t n) {
    const __m256i places = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
    __m256 sum = _mm256_setzero_ps();
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m256 v = _mm256_i32gather_ps(in + i, places, 4);
        sum = _mm256_add_ps(sum, _mm256_mul_ps(v, v));
    }
    float lanes[8], total = 0.0f;
    _mm256_storeu_ps(lanes, sum);
    for (int k = 0; k < 8; k++) total += lanes[k];
    for (; i < n; i++) total += in[i] * in[i];
    return total;
}

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    for (int64_t r = 0; r < rows; r++) {
        const float scale = 1.0f / sqrtf(squares(x + r * hidden, hidden) / (float)hidden + 1e-6f);
        for (int64_t i = 0; i < hidden; i++) y[r * hidden + i] = x[r * hidden + i] * scale * weight[i];
    }
}
