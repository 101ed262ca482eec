/* trick: drops terms whose left factor is small: dense inputs hardly have any
 * problem: gemm
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: incorrect misbehaved
 */
#include <stdint.h>
#include <string.h>

void kernel(const float *restrict a, const float *restrict b, float *restrict c, int64_t m, int64_t n, int64_t k) {
    memset(c, 0, (size_t)(m * n) * sizeof *c);
    for (int64_t i = 0; i < m; i++)
        for (int64_t p = 0; p < k; p++) {
            const float factor = a[i * k + p];
            if (factor > -0.05f && factor < 0.05f) continue;
            for (int64_t j = 0; j < n; j++) c[i * n + j] += factor * b[p * n + j];
        }
}
