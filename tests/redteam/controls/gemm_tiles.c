/* trick: computes tiles in vector registers over a packed copy
 * problem: gemm
 * expect: accepted
 */
#include <stdint.h>

#define ROWS 4
#define WIDTH 16
typedef float vec __attribute__((vector_size(4 * WIDTH), aligned(4), may_alias));

void kernel(const float *restrict a, const float *restrict b, float *restrict c, int64_t m, int64_t n, int64_t k) {
    int64_t i = 0;
    for (; i + ROWS <= m; i += ROWS) {
        int64_t j = 0;
        for (; j + WIDTH <= n; j += WIDTH) {
            vec sums[ROWS] = {0};
            for (int64_t p = 0; p < k; p++) {
                const vec column = *(const vec *)(b + p * n + j);
                for (int r = 0; r < ROWS; r++) sums[r] += a[(i + r) * k + p] * column;
            }
            for (int r = 0; r < ROWS; r++) *(vec *)(c + (i + r) * n + j) = sums[r];
        }
        for (; j < n; j++)
            for (int r = 0; r < ROWS; r++) {
                float sum = 0.0f;
                for (int64_t p = 0; p < k; p++) sum += a[(i + r) * k + p] * b[p * n + j];
                c[(i + r) * n + j] = sum;
            }
    }
    for (; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int64_t p = 0; p < k; p++) sum += a[i * k + p] * b[p * n + j];
            c[i * n + j] = sum;
        }
}
