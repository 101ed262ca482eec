/* Rotary embedding with explicit vectors over pairs. */
#define KM_WIDTH 8 /* floats in a vector */
#define KM_UNROLL 1 /* vectors of pairs per step */
#define KM_HEADS 1 /* heads in one pass over the tables */
#define KM_PREFETCH 0 /* bytes ahead in the input; 0: none */
#define KM_PREFETCH_OUT 0 /* bytes ahead in the output, for writing; 0: none */
#define KM_STREAM_KIB 0 /* outputs over so many KiB are written past the cache; 0: never */
#define KM_SPLIT 0 /* 1: interleaved pairs by the compiler's own vectorisation */

#include <stdint.h>

typedef float vec __attribute__((vector_size(4 * KM_WIDTH), aligned(4), may_alias));
typedef float vec_aligned __attribute__((vector_size(4 * KM_WIDTH), may_alias));
typedef int32_t ivec __attribute__((vector_size(4 * KM_WIDTH), aligned(4), may_alias));

#if KM_WIDTH == 4
#define EVEN {0, 2, 4, 6}
#define ODD {1, 3, 5, 7}
#define LOW {0, 4, 1, 5}
#define HIGH {2, 6, 3, 7}
#elif KM_WIDTH == 8
#define EVEN {0, 2, 4, 6, 8, 10, 12, 14}
#define ODD {1, 3, 5, 7, 9, 11, 13, 15}
#define LOW {0, 8, 1, 9, 2, 10, 3, 11}
#define HIGH {4, 12, 5, 13, 6, 14, 7, 15}
#else
#define EVEN {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30}
#define ODD {1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31}
#define LOW {0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23}
#define HIGH {8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31}
#endif

static inline void store(float *to, vec value, int streaming) {
    if (!streaming) {
#if KM_PREFETCH_OUT
        __builtin_prefetch((char *)to + KM_PREFETCH_OUT, 1);
#endif
        *(vec *)to = value;
        return;
    }
#if KM_WIDTH == 16 && defined(__AVX512F__)
    __builtin_ia32_movntps512(to, (vec_aligned)value);
#elif KM_WIDTH == 8 && defined(__AVX__)
    __builtin_ia32_movntps256(to, (vec_aligned)value);
#elif KM_WIDTH == 4 && defined(__SSE__)
    __builtin_ia32_movntps(to, (vec_aligned)value);
#else
    *(vec *)to = value;
#endif
}

static inline void half_vector(const float *restrict in, float *restrict out, vec c, vec s, int64_t half, int streaming) {
#if KM_PREFETCH
    __builtin_prefetch((const char *)in + KM_PREFETCH);
    __builtin_prefetch((const char *)(in + half) + KM_PREFETCH);
#endif
    const vec u = *(const vec *)in, v = *(const vec *)(in + half);
    store(out, u * c - v * s, streaming);
    store(out + half, u * s + v * c, streaming);
}

static inline void interleaved_vector(const float *restrict in, float *restrict out, vec c, vec s, int streaming) {
#if KM_PREFETCH
    __builtin_prefetch((const char *)in + KM_PREFETCH);
#endif
    const vec a = *(const vec *)in, b = *(const vec *)(in + KM_WIDTH);
    const vec u = __builtin_shuffle(a, b, (ivec)EVEN), v = __builtin_shuffle(a, b, (ivec)ODD);
    const vec first = u * c - v * s, second = u * s + v * c;
    store(out, __builtin_shuffle(first, second, (ivec)LOW), streaming);
    store(out + KM_WIDTH, __builtin_shuffle(first, second, (ivec)HIGH), streaming);
}

static inline void heads_of(const float *restrict x, const float *restrict c, const float *restrict s,
                            float *restrict y, int64_t dim, int64_t half, int heads, int interleaved, int streaming) {
    int64_t i = 0;
    if (!interleaved || !KM_SPLIT)
        for (; i + KM_WIDTH * KM_UNROLL <= half; i += KM_WIDTH * KM_UNROLL) {
#pragma GCC unroll 8
            for (int w = 0; w < KM_UNROLL; w++) {
                const int64_t at = i + w * KM_WIDTH;
                const vec cosine = *(const vec *)(c + at), sine = *(const vec *)(s + at);
                for (int h = 0; h < heads; h++) {
                    const int64_t head = h * dim;
                    if (interleaved)
                        interleaved_vector(x + head + 2 * at, y + head + 2 * at, cosine, sine, streaming);
                    else
                        half_vector(x + head + at, y + head + at, cosine, sine, half, streaming);
                }
            }
        }
    const int64_t step = interleaved ? 2 : 1, apart = interleaved ? 1 : half;
    for (int h = 0; h < heads; h++)
        for (int64_t j = i; j < half; j++) {
            const float *in = x + h * dim + j * step;
            float *out = y + h * dim + j * step;
            const float u = in[0], v = in[apart];
            out[0] = u * c[j] - v * s[j];
            out[apart] = u * s[j] + v * c[j];
        }
}

void kernel(const float *restrict x, const float *restrict cosine, const float *restrict sine,
            const int32_t *restrict interleaved, float *restrict y, int64_t tokens, int64_t heads, int64_t dim,
            int64_t half) {
    const int streaming = KM_STREAM_KIB && tokens * heads * dim * 4 > (int64_t)KM_STREAM_KIB * 1024 &&
                          half % KM_WIDTH == 0 && (uintptr_t)y % (4 * KM_WIDTH) == 0;
    for (int64_t t = 0; t < tokens; t++) {
        const float *c = cosine + t * half, *s = sine + t * half;
        const float *in = x + t * heads * dim;
        float *out = y + t * heads * dim;
        int64_t h = 0;
        if (*interleaved) {
            for (; h + KM_HEADS <= heads; h += KM_HEADS)
                heads_of(in + h * dim, c, s, out + h * dim, dim, half, KM_HEADS, 1, streaming);
            for (; h < heads; h++) heads_of(in + h * dim, c, s, out + h * dim, dim, half, 1, 1, streaming);
        } else {
            for (; h + KM_HEADS <= heads; h += KM_HEADS)
                heads_of(in + h * dim, c, s, out + h * dim, dim, half, KM_HEADS, 0, streaming);
            for (; h < heads; h++) heads_of(in + h * dim, c, s, out + h * dim, dim, half, 1, 0, streaming);
        }
    }
}
