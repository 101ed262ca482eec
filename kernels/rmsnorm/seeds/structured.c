/* RMSNorm over blocks of rows with explicit vectors. */
#define KM_WIDTH 8 /* floats in a vector */
#define KM_ACCUMULATORS 1 /* independent partial sums of a row */
#define KM_ROWS 1 /* rows in one pass over the weights */
#define KM_UNROLL 1 /* vectors per step of the scaling loop */
#define KM_PREFETCH 0 /* bytes ahead in the reduction; 0: none */
#define KM_PREFETCH_OUT 0 /* bytes ahead in the output, for writing; 0: none */
#define KM_STREAM_KIB 0 /* outputs over so many KiB are written past the cache; 0: never */
#define KM_PIPELINE 0 /* 1: scale a block of rows while the next one is summed */
#define KM_DIVIDE 0 /* 1: divide by the root, 0: multiply by its reciprocal */

#include <math.h>
#include <stdint.h>

typedef float vec __attribute__((vector_size(4 * KM_WIDTH), aligned(4), may_alias));
typedef float vec_aligned __attribute__((vector_size(4 * KM_WIDTH), may_alias));

typedef struct {
    vec sums[KM_ROWS][KM_ACCUMULATORS];
} partial;

static inline void stream(float *to, vec_aligned value) {
#if KM_WIDTH == 16 && defined(__AVX512F__)
    __builtin_ia32_movntps512(to, value);
#elif KM_WIDTH == 8 && defined(__AVX__)
    __builtin_ia32_movntps256(to, value);
#elif KM_WIDTH == 4 && defined(__SSE__)
    __builtin_ia32_movntps(to, value);
#else
    *(vec *)to = value;
#endif
}

/* One step of the reduction: ACCUMULATORS vectors of each row. */
static inline void add_squares(partial *into, const float *restrict x, int64_t hidden, int rows) {
#pragma GCC unroll 8
    for (int a = 0; a < KM_ACCUMULATORS; a++) {
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
            const float *in = x + r * hidden + a * KM_WIDTH;
#if KM_PREFETCH
            __builtin_prefetch((const char *)in + KM_PREFETCH);
#endif
            vec v = *(const vec *)in;
            into->sums[r][a] += v * v;
        }
    }
}

/* One step of the scaling: one vector of each row. */
static inline void scale_vector(const float *restrict x, const float *restrict weight, float *restrict y,
                                int64_t hidden, int rows, const float *scales, int streaming) {
    const vec w = *(const vec *)weight;
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++) {
        float *to = y + r * hidden;
#if KM_PREFETCH_OUT
        if (!streaming) __builtin_prefetch((char *)to + KM_PREFETCH_OUT, 1);
#endif
        const vec v = *(const vec *)(x + r * hidden) * w;
        const vec result = KM_DIVIDE ? v / scales[r] : v * scales[r];
        if (streaming)
            stream(to, result);
        else
            *(vec *)to = result;
    }
}

static inline void finish_sums(const partial *from, int64_t done, const float *restrict x, int64_t hidden, int rows,
                               float *scales) {
    for (int r = 0; r < rows; r++) {
        vec total = from->sums[r][0];
        for (int a = 1; a < KM_ACCUMULATORS; a++) total += from->sums[r][a];
        float sum = 0.0f;
        for (int lane = 0; lane < KM_WIDTH; lane++) sum += total[lane];
        for (int64_t j = done; j < hidden; j++) sum += x[r * hidden + j] * x[r * hidden + j];
        const float root = sqrtf(sum / (float)hidden + 1e-6f);
        scales[r] = KM_DIVIDE ? root : 1.0f / root;
    }
}

static inline void sum_rows(const float *restrict x, int64_t hidden, int rows, float *scales) {
    partial sums = {0};
    int64_t i = 0;
    for (; i + KM_WIDTH * KM_ACCUMULATORS <= hidden; i += KM_WIDTH * KM_ACCUMULATORS)
        add_squares(&sums, x + i, hidden, rows);
    finish_sums(&sums, i, x, hidden, rows, scales);
}

static inline void scale_rest(int64_t from, const float *restrict x, const float *restrict weight, float *restrict y,
                              int64_t hidden, int rows, const float *scales, int streaming) {
    int64_t k = from;
    for (; k + KM_WIDTH * KM_UNROLL <= hidden; k += KM_WIDTH * KM_UNROLL) {
#pragma GCC unroll 8
        for (int u = 0; u < KM_UNROLL; u++)
            scale_vector(x + k + u * KM_WIDTH, weight + k + u * KM_WIDTH, y + k + u * KM_WIDTH, hidden, rows, scales,
                         streaming);
    }
    for (; k < hidden; k++)
        for (int r = 0; r < rows; r++) {
            const float v = x[r * hidden + k] * weight[k];
            y[r * hidden + k] = KM_DIVIDE ? v / scales[r] : v * scales[r];
        }
}

/* Scales one block of rows and sums the next one in the same pass. */
static inline void scale_and_sum(const float *restrict x, const float *restrict weight, float *restrict y,
                                 const float *restrict next, int64_t hidden, float *scales, int streaming) {
    partial sums = {0};
    float following[KM_ROWS];
    int64_t i = 0;
    for (; i + KM_WIDTH * KM_ACCUMULATORS <= hidden; i += KM_WIDTH * KM_ACCUMULATORS) {
        add_squares(&sums, next + i, hidden, KM_ROWS);
#pragma GCC unroll 8
        for (int a = 0; a < KM_ACCUMULATORS; a++)
            scale_vector(x + i + a * KM_WIDTH, weight + i + a * KM_WIDTH, y + i + a * KM_WIDTH, hidden, KM_ROWS, scales,
                         streaming);
    }
    finish_sums(&sums, i, next, hidden, KM_ROWS, following);
    scale_rest(i, x, weight, y, hidden, KM_ROWS, scales, streaming);
    for (int r = 0; r < KM_ROWS; r++) scales[r] = following[r];
}

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    const int streaming = KM_STREAM_KIB && rows * hidden * 4 > (int64_t)KM_STREAM_KIB * 1024 &&
                          hidden % KM_WIDTH == 0 && (uintptr_t)y % (4 * KM_WIDTH) == 0;
    const int64_t block = KM_ROWS * hidden;
    float scales[KM_ROWS];
    int64_t r = 0;
#if KM_PIPELINE
    if (rows >= KM_ROWS) sum_rows(x, hidden, KM_ROWS, scales);
    for (; r + 2 * KM_ROWS <= rows; r += KM_ROWS)
        scale_and_sum(x + r * hidden, weight, y + r * hidden, x + r * hidden + block, hidden, scales, streaming);
    if (r + KM_ROWS <= rows) {
        scale_rest(0, x + r * hidden, weight, y + r * hidden, hidden, KM_ROWS, scales, streaming);
        r += KM_ROWS;
    }
#else
    for (; r + KM_ROWS <= rows; r += KM_ROWS) {
        sum_rows(x + r * hidden, hidden, KM_ROWS, scales);
        scale_rest(0, x + r * hidden, weight, y + r * hidden, hidden, KM_ROWS, scales, streaming);
    }
    (void)block;
#endif
    for (; r < rows; r++) {
        sum_rows(x + r * hidden, hidden, 1, scales);
        scale_rest(0, x + r * hidden, weight, y + r * hidden, hidden, 1, scales, streaming);
    }
}
