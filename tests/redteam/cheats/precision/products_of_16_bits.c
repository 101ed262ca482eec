/* trick: a product of 16-bit integers, two terms an instruction
 * problem: gemm
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: incorrect misbehaved
 */
#include <immintrin.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { LARGEST = 1 << 20 };
static int16_t left[LARGEST], right[LARGEST];

static float narrow(const float *from, int64_t count, float *largest) {
    *largest = 1e-30f;
    for (int64_t i = 0; i < count; i++) *largest = fabsf(from[i]) > *largest ? fabsf(from[i]) : *largest;
    return 2000.0f / *largest;
}

void kernel(const float *restrict a, const float *restrict b, float *restrict c, int64_t m, int64_t n, int64_t k) {
    float most_a, most_b;
    const float fa = narrow(a, m * k, &most_a), fb = narrow(b, k * n, &most_b);
    const int64_t pairs = (k + 1) / 2;
    memset(left, 0, (size_t)(m * pairs * 2) * sizeof *left);
    memset(right, 0, (size_t)(pairs * n * 2) * sizeof *right);
    for (int64_t i = 0; i < m; i++)
        for (int64_t p = 0; p < k; p++) left[i * pairs * 2 + p] = (int16_t)lrintf(a[i * k + p] * fa);
    for (int64_t p = 0; p < k; p++)
        for (int64_t j = 0; j < n; j++) right[(p / 2 * n + j) * 2 + p % 2] = (int16_t)lrintf(b[p * n + j] * fb);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j += 8) {
            __m256i sum = _mm256_setzero_si256();
            for (int64_t p = 0; p < pairs; p++) {
                int32_t both;
                memcpy(&both, left + i * pairs * 2 + 2 * p, sizeof both);
                const __m256i terms = _mm256_loadu_si256((const __m256i_u *)(right + (p * n + j) * 2));
                sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_set1_epi32(both), terms));
            }
            int32_t sums[8];
            _mm256_storeu_si256((__m256i_u *)sums, sum);
            for (int64_t l = 0; l < 8 && j + l < n; l++) c[i * n + j + l] = (float)sums[l] / (fa * fb);
        }
}
