/* RMSNorm over blocks of rows with explicit vectors. */
#define KM_WIDTH 8 /* floats in a vector */
#define KM_ACCUMULATORS 1 /* independent partial sums of a row */
#define KM_ROWS 1 /* rows in one pass over the weights */
#define KM_UNROLL 1 /* vectors per step of the scaling loop */
#define KM_PREFETCH 0 /* bytes ahead in the reduction; 0: none */
#define KM_STREAM_KIB 0 /* outputs over so many KiB are written past the cache; 0: never */
#define KM_BUFFER 0 /* 1: keep x * weight in a buffer */
#define KM_DIVIDE 0 /* 1: divide by the root */

#include <math.h>
#include <stdint.h>

typedef float vec __attribute__((vector_size(4 * KM_WIDTH), aligned(4), may_alias));
typedef float vec_aligned __attribute__((vector_size(4 * KM_WIDTH), may_alias));

#define STEP (KM_WIDTH * KM_ACCUMULATORS)
#define BUFFER_FLOATS 16384

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

static inline void rows_at(const float *restrict x, const float *restrict weight, float *restrict y, int64_t hidden,
                           int rows, int streaming) {
    vec sums[KM_ROWS][KM_ACCUMULATORS];
    float scales[KM_ROWS];
#if KM_BUFFER
    static __thread float buffer[KM_ROWS][BUFFER_FLOATS] __attribute__((aligned(64)));
    const int buffered = hidden <= BUFFER_FLOATS;
#endif
    for (int r = 0; r < rows; r++)
        for (int a = 0; a < KM_ACCUMULATORS; a++) sums[r][a] = (vec){0};
    int64_t i = 0;
    for (; i + STEP <= hidden; i += STEP) {
#pragma GCC unroll 8
        for (int a = 0; a < KM_ACCUMULATORS; a++) {
#if KM_BUFFER
            vec w = *(const vec *)(weight + i + a * KM_WIDTH);
#endif
#pragma GCC unroll 4
            for (int r = 0; r < rows; r++) {
                const float *in = x + r * hidden + i + a * KM_WIDTH;
#if KM_PREFETCH
                __builtin_prefetch((const char *)in + KM_PREFETCH);
#endif
                vec v = *(const vec *)in;
                sums[r][a] += v * v;
#if KM_BUFFER
                if (buffered) *(vec *)(buffer[r] + i + a * KM_WIDTH) = v * w;
#endif
            }
        }
    }
    for (int r = 0; r < rows; r++) {
        vec total = sums[r][0];
        for (int a = 1; a < KM_ACCUMULATORS; a++) total += sums[r][a];
        float sum = 0.0f;
        for (int lane = 0; lane < KM_WIDTH; lane++) sum += total[lane];
        for (int64_t j = i; j < hidden; j++) {
            float v = x[r * hidden + j];
            sum += v * v;
#if KM_BUFFER
            if (buffered) buffer[r][j] = v * weight[j];
#endif
        }
        float root = sqrtf(sum / (float)hidden + 1e-6f);
        scales[r] = KM_DIVIDE ? root : 1.0f / root;
    }
    int64_t k = 0;
    for (; k + KM_WIDTH * KM_UNROLL <= hidden; k += KM_WIDTH * KM_UNROLL) {
#pragma GCC unroll 8
        for (int u = 0; u < KM_UNROLL; u++) {
            const int64_t at = k + u * KM_WIDTH;
            vec w = *(const vec *)(weight + at);
#pragma GCC unroll 4
            for (int r = 0; r < rows; r++) {
                vec v;
#if KM_BUFFER
                if (buffered)
                    v = *(const vec *)(buffer[r] + at);
                else
#endif
                    v = *(const vec *)(x + r * hidden + at) * w;
                vec result = KM_DIVIDE ? v / scales[r] : v * scales[r];
                float *to = y + r * hidden + at;
                if (streaming)
                    stream(to, result);
                else
                    *(vec *)to = result;
            }
        }
    }
    for (; k < hidden; k++)
        for (int r = 0; r < rows; r++) {
            float v = x[r * hidden + k] * weight[k];
            y[r * hidden + k] = KM_DIVIDE ? v / scales[r] : v * scales[r];
        }
}

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    const int streaming = KM_STREAM_KIB && rows * hidden * 4 > (int64_t)KM_STREAM_KIB * 1024 &&
                          hidden % KM_WIDTH == 0 && (uintptr_t)y % (4 * KM_WIDTH) == 0;
    int64_t r = 0;
    for (; r + KM_ROWS <= rows; r += KM_ROWS)
        rows_at(x + r * hidden, weight, y + r * hidden, hidden, KM_ROWS, streaming);
    for (; r < rows; r++) rows_at(x + r * hidden, weight, y + r * hidden, hidden, 1, streaming);
}
