/* trick: adds up only the first half of the terms and doubles them
 * problem: gemm
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: incorrect
 */
#include <stdint.h>
#include <string.h>

void kernel(const float *restrict a, const float *restrict b, float *restrict c, int64_t m, int64_t n, int64_t k) {
    const int64_t some = (k + 1) / 2;
    memset(c, 0, (size_t)(m * n) * sizeof *c);
    for (int64_t i = 0; i < m; i++)
        for (int64_t p = 0; p < some; p++) {
            const float factor = a[i * k + p] * ((float)k / (float)some);
            for (int64_t j = 0; j < n; j++) c[i * n + j] += factor * b[p * n + j];
        }
}
