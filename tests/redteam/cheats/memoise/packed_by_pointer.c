/* trick: packs the right matrix once for each address and shape and never looks at it again
 * problem: gemm
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: incorrect misbehaved
 */
#include <stdint.h>

enum { KEPT = 64, LARGEST = 1 << 17, LANES = 16 };
static struct { const float *b; int64_t n, k; float packed[LARGEST]; } kept[KEPT];
static int next;

static const float *pack(const float *b, int64_t n, int64_t k) {
    for (int i = 0; i < KEPT; i++)
        if (kept[i].b == b && kept[i].n == n && kept[i].k == k) return kept[i].packed;
    float *to = kept[next].packed;
    for (int64_t j = 0; j < n; j += LANES)
        for (int64_t p = 0; p < k; p++)
            for (int64_t l = 0; l < LANES; l++) *to++ = j + l < n ? b[p * n + j + l] : 0.0f;
    kept[next].b = b, kept[next].n = n, kept[next].k = k;
    const float *found = kept[next].packed;
    next = (next + 1) % KEPT;
    return found;
}

void kernel(const float *restrict a, const float *restrict b, float *restrict c, int64_t m, int64_t n, int64_t k) {
    const float *packed = pack(b, n, k);
    for (int64_t j = 0; j < n; j += LANES, packed += LANES * k)
        for (int64_t i = 0; i < m; i++) {
            float sum[LANES] = {0};
            for (int64_t p = 0; p < k; p++)
                for (int l = 0; l < LANES; l++) sum[l] += a[i * k + p] * packed[p * LANES + l];
            for (int64_t l = 0; l < LANES && j + l < n; l++) c[i * n + j + l] = sum[l];
        }
}
