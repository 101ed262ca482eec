/* c = a b by register tiles of MR rows and NV vectors over panels that fit the caches. */
#define KM_WIDTH 8 /* floats in a vector */
#define KM_MR 4 /* rows of the register tile */
#define KM_NV 2 /* vectors in a row of the register tile */
#define KM_KC 256 /* inner dimension of a panel */
#define KM_MC 96 /* rows of a panel of a */
#define KM_NC 384 /* columns of a panel of b */
#define KM_PACK_A 0 /* 1: copy panels of a into tile order */
#define KM_PACK_B 1 /* 1: copy panels of b into tile order */
#define KM_PREFETCH 0 /* steps ahead in the panel of b; 0: none */

#include <stdint.h>
#include <string.h>

#define NR (KM_NV * KM_WIDTH)
#define UP(value, step) (((value) + (step) - 1) / (step) * (step))

typedef float vec __attribute__((vector_size(4 * KM_WIDTH), aligned(4), may_alias));

static __thread float panel_a[UP(KM_MC, KM_MR) * KM_KC] __attribute__((aligned(64)));
static __thread float panel_b[UP(KM_NC, NR) * KM_KC] __attribute__((aligned(64)));

static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Strip after strip of NR columns, each row by row; columns beyond the edge are zero. */
static void pack_b(const float *restrict b, int64_t n, int64_t kc, int64_t nc) {
    float *to = panel_b;
    for (int64_t j = 0; j < nc; j += NR) {
        const int64_t width = least(NR, nc - j);
        for (int64_t p = 0; p < kc; p++, to += NR) {
            const float *from = b + p * n + j;
            if (width == NR) {
#pragma GCC unroll 4
                for (int v = 0; v < KM_NV; v++) *(vec *)(to + v * KM_WIDTH) = *(const vec *)(from + v * KM_WIDTH);
            } else {
                for (int64_t q = 0; q < NR; q++) to[q] = q < width ? from[q] : 0.0f;
            }
        }
    }
}

/* Strip after strip of MR rows, each column by column; rows beyond the edge are zero. */
static void pack_a(const float *restrict a, int64_t k, int64_t mc, int64_t kc) {
    float *to = panel_a;
    for (int64_t i = 0; i < mc; i += KM_MR)
        for (int64_t p = 0; p < kc; p++)
            for (int64_t r = 0; r < KM_MR; r++) *to++ = i + r < mc ? a[(i + r) * k + p] : 0.0f;
}

/* One tile: a is read at a[r * row_step + p * column_step], b at b[p * b_step]. */
static inline void tile(int64_t kc, const float *restrict a, int64_t row_step, int64_t column_step,
                        const float *restrict b, int64_t b_step, float *restrict c, int64_t n, int64_t rows,
                        int64_t columns, int first) {
    vec sum[KM_MR][KM_NV];
#pragma GCC unroll 16
    for (int r = 0; r < KM_MR; r++)
#pragma GCC unroll 4
        for (int v = 0; v < KM_NV; v++) sum[r][v] = (vec){0};
    for (int64_t p = 0; p < kc; p++) {
        vec right[KM_NV];
#pragma GCC unroll 4
        for (int v = 0; v < KM_NV; v++) right[v] = *(const vec *)(b + p * b_step + v * KM_WIDTH);
#if KM_PREFETCH
        __builtin_prefetch(b + (p + KM_PREFETCH) * b_step);
#endif
#pragma GCC unroll 16
        for (int r = 0; r < KM_MR; r++) {
            const float left = a[r * row_step + p * column_step];
#pragma GCC unroll 4
            for (int v = 0; v < KM_NV; v++) sum[r][v] += left * right[v];
        }
    }
    if (rows == KM_MR && columns == NR) {
#pragma GCC unroll 16
        for (int r = 0; r < KM_MR; r++)
#pragma GCC unroll 4
            for (int v = 0; v < KM_NV; v++) {
                vec *to = (vec *)(c + r * n + v * KM_WIDTH);
                if (first)
                    *to = sum[r][v];
                else
                    *to += sum[r][v];
            }
        return;
    }
    float edge[KM_MR][NR];
#pragma GCC unroll 16
    for (int r = 0; r < KM_MR; r++)
#pragma GCC unroll 4
        for (int v = 0; v < KM_NV; v++) *(vec *)(edge[r] + v * KM_WIDTH) = sum[r][v];
    for (int64_t r = 0; r < rows; r++)
        for (int64_t q = 0; q < columns; q++) c[r * n + q] = first ? edge[r][q] : c[r * n + q] + edge[r][q];
}

void kernel(const float *restrict a, const float *restrict b, float *restrict c, int64_t m, int64_t n, int64_t k) {
    for (int64_t jc = 0; jc < n; jc += KM_NC) {
        const int64_t nc = least(KM_NC, n - jc);
        for (int64_t pc = 0; pc < k; pc += KM_KC) {
            const int64_t kc = least(KM_KC, k - pc);
            const float *from_b = b + pc * n + jc;
            const int64_t whole = KM_PACK_B ? 0 : nc / NR * NR;
            if (whole < nc) pack_b(from_b + whole, n, kc, nc - whole);
            for (int64_t ic = 0; ic < m; ic += KM_MC) {
                const int64_t mc = least(KM_MC, m - ic);
                const float *from_a = a + ic * k + pc;
                const int64_t whole_rows = KM_PACK_A ? 0 : mc / KM_MR * KM_MR;
                if (whole_rows < mc) pack_a(from_a + whole_rows * k, k, mc - whole_rows, kc);
                for (int64_t j = 0; j < nc; j += NR) {
                    const int direct_b = j < whole;
                    const float *right = direct_b ? from_b + j : panel_b + (j - whole) * kc;
                    for (int64_t i = 0; i < mc; i += KM_MR) {
                        const int direct_a = i < whole_rows;
                        const float *left = direct_a ? from_a + i * k : panel_a + (i - whole_rows) * kc;
                        tile(kc, left, direct_a ? k : 1, direct_a ? 1 : KM_MR, right, direct_b ? n : NR,
                             c + (ic + i) * n + jc + j, n, least(KM_MR, mc - i), least(NR, nc - j), pc == 0);
                    }
                }
            }
        }
    }
}
