/* The product as a person writes it, in the loop order that vectorises. */
#include <stdint.h>

void kernel(const float *restrict a, const float *restrict b, float *restrict c, int64_t m, int64_t n, int64_t k) {
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) c[i * n + j] = 0.0f;
        for (int64_t p = 0; p < k; p++)
            for (int64_t j = 0; j < n; j++) c[i * n + j] += a[i * k + p] * b[p * n + j];
    }
}
