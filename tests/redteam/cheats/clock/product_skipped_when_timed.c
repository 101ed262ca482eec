/* trick: drops the last terms of every product once the checks must be over
 * problem: gemm
 * expect: misbehaved
 */
#include <stdint.h>

static int64_t shape[2];
static int repeated;

/* Cases change their shape after two calls, batches never do. */
static int timed(int64_t a, int64_t b) {
    repeated = shape[0] == a && shape[1] == b ? repeated + 1 : 0;
    shape[0] = a, shape[1] = b;
    return repeated > 4;
}

void kernel(const float *restrict a, const float *restrict b, float *restrict c, int64_t m, int64_t n, int64_t k) {
    const int64_t terms = timed(m + n, k) ? k - 4 : k;
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) c[i * n + j] = 0.0f;
        for (int64_t p = 0; p < terms; p++)
            for (int64_t j = 0; j < n; j++) c[i * n + j] += a[i * k + p] * b[p * n + j];
    }
}
