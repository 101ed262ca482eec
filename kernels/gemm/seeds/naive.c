/* The product in the loop order that vectorises. Loops are marked for the rewriter. */
#include <stdint.h>

void kernel(const float *restrict a, const float *restrict b, float *restrict c, int64_t m, int64_t n, int64_t k) {
    /* km: independent */
    for (int64_t i = 0; i < m; i++) {
        float *out = c + i * n;
        /* km: independent */
        for (int64_t j = 0; j < n; j++) {
            out[j] = 0.0f;
        }
        for (int64_t p = 0; p < k; p++) {
            const float factor = a[i * k + p];
            const float *row = b + p * n;
            /* km: independent */
            for (int64_t j = 0; j < n; j++) {
                out[j] += factor * row[j];
            }
        }
    }
}
