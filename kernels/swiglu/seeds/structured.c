/* SwiGLU with explicit vectors and exp by range reduction: 2^n * 2^f with |f| <= 1/2. */
#define KM_WIDTH 8 /* floats in a vector */
#define KM_FLIGHT 1 /* vectors in flight */
#define KM_DEGREE 6 /* degree of the polynomial */
#define KM_EXP 0 /* 0: round by adding a constant, 1: by conversion */
#define KM_REDUCE 2 /* parts in which n ln 2 is subtracted */
#define KM_RECIPROCAL 0 /* 1: divide a * b, 0: divide a, then multiply by b */
#define KM_PREFETCH 0 /* bytes ahead; 0: none */
#define KM_STREAM_KIB 0 /* outputs over so many KiB are written past the cache; 0: never */

#include <stdint.h>

typedef float vec __attribute__((vector_size(4 * KM_WIDTH), aligned(4), may_alias));
typedef float vec_aligned __attribute__((vector_size(4 * KM_WIDTH), may_alias));
typedef int32_t ivec __attribute__((vector_size(4 * KM_WIDTH), aligned(4), may_alias));

#define SPLAT(value) ((vec){0} + (value))

/* Lane by lane, so that the compiler takes its maximum instruction. */
static inline vec larger(vec a, vec b) {
    vec result;
    for (int lane = 0; lane < KM_WIDTH; lane++) result[lane] = a[lane] > b[lane] ? a[lane] : b[lane];
    return result;
}

static inline vec smaller(vec a, vec b) {
    vec result;
    for (int lane = 0; lane < KM_WIDTH; lane++) result[lane] = a[lane] < b[lane] ? a[lane] : b[lane];
    return result;
}

/* 2^f on [-1/2, 1/2], smallest relative error for the degree: 5.6e-8, 2e-9, below the rounding of float. */
static inline vec exp2_fraction(vec f) {
#if KM_DEGREE == 5
    vec p = SPLAT(1.32254e-3f);
    p = p * f + 9.6756686e-3f;
    p = p * f + 5.5508640e-2f;
    p = p * f + 2.4022131e-1f;
    p = p * f + 6.9314694e-1f;
#elif KM_DEGREE == 6
    vec p = SPLAT(1.5315795e-4f);
    p = p * f + 1.3384391e-3f;
    p = p * f + 9.6183633e-3f;
    p = p * f + 5.5503760e-2f;
    p = p * f + 2.4022651e-1f;
    p = p * f + 6.9314718e-1f;
#else
    vec p = SPLAT(1.5252734e-5f);
    p = p * f + 1.5403530e-4f;
    p = p * f + 1.3333558e-3f;
    p = p * f + 9.6181291e-3f;
    p = p * f + 5.5504109e-2f;
    p = p * f + 2.4022651e-1f;
    p = p * f + 6.9314718e-1f;
#endif
    return p * f + 1.0f;
}

static inline vec exponential(vec x) {
    x = smaller(larger(x, SPLAT(-87.0f)), SPLAT(88.0f));
    vec t = x * 1.44269504f;
#if KM_EXP == 0
    vec shifted = t + 12582912.0f;
    vec n = shifted - 12582912.0f;
    ivec bits = ((ivec)shifted - 0x4b400000) << 23;
#else
    vec half = (vec)(((ivec)t & INT32_MIN) | 0x3f000000); /* 1/2 with the sign of t */
    ivec whole = __builtin_convertvector(t + half, ivec);
    vec n = __builtin_convertvector(whole, vec);
    ivec bits = whole << 23;
#endif
#if KM_REDUCE == 2
    vec f = ((x - n * 0.693145752f) - n * 1.42860677e-6f) * 1.44269504f;
#else
    vec f = t - n;
#endif
    return (vec)((ivec)exp2_fraction(f) + bits);
}

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

static inline vec gated(vec a, vec b) {
    vec denominator = exponential(-a) + 1.0f;
#if KM_RECIPROCAL
    return a * b / denominator;
#else
    return a / denominator * b;
#endif
}

void kernel(const float *restrict a, const float *restrict b, float *restrict y, int64_t rows, int64_t ffn) {
    const int64_t length = rows * ffn;
    const int streaming = KM_STREAM_KIB && length * 4 > (int64_t)KM_STREAM_KIB * 1024 &&
                          (uintptr_t)y % (4 * KM_WIDTH) == 0;
    int64_t i = 0;
    for (; i + KM_WIDTH * KM_FLIGHT <= length; i += KM_WIDTH * KM_FLIGHT) {
#pragma GCC unroll 8
        for (int u = 0; u < KM_FLIGHT; u++) {
            const int64_t at = i + u * KM_WIDTH;
#if KM_PREFETCH
            __builtin_prefetch((const char *)(a + at) + KM_PREFETCH);
            __builtin_prefetch((const char *)(b + at) + KM_PREFETCH);
#endif
            vec result = gated(*(const vec *)(a + at), *(const vec *)(b + at));
            if (streaming)
                stream(y + at, result);
            else
                *(vec *)(y + at) = result;
        }
    }
    for (; i < length; i++) {
        vec result = gated(SPLAT(a[i]), SPLAT(b[i]));
        y[i] = result[0];
    }
}
