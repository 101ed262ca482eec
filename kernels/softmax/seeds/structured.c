/* Softmax with explicit vectors and exp by range reduction: 2^n * 2^f with |f| <= 1/2. */
#define KM_WIDTH 8 /* floats in a vector */
#define KM_MAX_ACCUMULATORS 1 /* partial maxima */
#define KM_ACCUMULATORS 1 /* vectors of exponentials in flight */
#define KM_DEGREE 6 /* degree of the polynomial */
#define KM_EXP 0 /* 0: round by adding a constant, 1: by conversion */
#define KM_UNROLL 1 /* vectors per step of the scaling loop */
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
    x = larger(x, SPLAT(-87.0f));
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
    /* x - n ln 2 in two parts keeps the fraction exact; ln 2 = 0.693145752 + 1.42860677e-6. */
    vec f = ((x - n * 0.693145752f) - n * 1.42860677e-6f) * 1.44269504f;
    return (vec)((ivec)exp2_fraction(f) + bits);
}

static inline float scalar_exponential(float x) {
    vec lanes = exponential(SPLAT(x));
    return lanes[0];
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

static inline float row_maximum(const float *restrict in, int64_t columns) {
    const int64_t step = KM_WIDTH * KM_MAX_ACCUMULATORS;
    float largest = in[0];
    int64_t i = 0;
    if (columns >= step) {
        vec best[KM_MAX_ACCUMULATORS];
        for (int a = 0; a < KM_MAX_ACCUMULATORS; a++) best[a] = *(const vec *)(in + a * KM_WIDTH);
        for (i = step; i + step <= columns; i += step) {
#pragma GCC unroll 8
            for (int a = 0; a < KM_MAX_ACCUMULATORS; a++) {
#if KM_PREFETCH
                __builtin_prefetch((const char *)(in + i + a * KM_WIDTH) + KM_PREFETCH);
#endif
                best[a] = larger(best[a], *(const vec *)(in + i + a * KM_WIDTH));
            }
        }
        for (int a = 1; a < KM_MAX_ACCUMULATORS; a++) best[0] = larger(best[0], best[a]);
        for (int lane = 0; lane < KM_WIDTH; lane++) largest = best[0][lane] > largest ? best[0][lane] : largest;
    }
    for (; i < columns; i++) largest = in[i] > largest ? in[i] : largest;
    return largest;
}

void kernel(const float *restrict x, float *restrict y, int64_t rows, int64_t columns) {
    const int streaming = KM_STREAM_KIB && rows * columns * 4 > (int64_t)KM_STREAM_KIB * 1024 &&
                          columns % KM_WIDTH == 0 && (uintptr_t)y % (4 * KM_WIDTH) == 0;
    const int64_t step = KM_WIDTH * KM_ACCUMULATORS;
    for (int64_t r = 0; r < rows; r++) {
        const float *restrict in = x + r * columns;
        float *restrict out = y + r * columns;
        const float largest = row_maximum(in, columns);
        vec sums[KM_ACCUMULATORS];
        for (int a = 0; a < KM_ACCUMULATORS; a++) sums[a] = (vec){0};
        int64_t i = 0;
        for (; i + step <= columns; i += step) {
#pragma GCC unroll 8
            for (int a = 0; a < KM_ACCUMULATORS; a++) {
                vec weight = exponential(*(const vec *)(in + i + a * KM_WIDTH) - largest);
                *(vec *)(out + i + a * KM_WIDTH) = weight;
                sums[a] += weight;
            }
        }
        for (; i + KM_WIDTH <= columns; i += KM_WIDTH) {
            vec weight = exponential(*(const vec *)(in + i) - largest);
            *(vec *)(out + i) = weight;
            sums[0] += weight;
        }
        for (int a = 1; a < KM_ACCUMULATORS; a++) sums[0] += sums[a];
        float sum = 0.0f;
        for (int lane = 0; lane < KM_WIDTH; lane++) sum += sums[0][lane];
        for (; i < columns; i++) {
            float weight = scalar_exponential(in[i] - largest);
            out[i] = weight;
            sum += weight;
        }
        const float scale = 1.0f / sum;
        int64_t k = 0;
        for (; k + KM_WIDTH * KM_UNROLL <= columns; k += KM_WIDTH * KM_UNROLL) {
#pragma GCC unroll 8
            for (int u = 0; u < KM_UNROLL; u++) {
                float *to = out + k + u * KM_WIDTH;
                vec result = *(const vec *)to * scale;
                if (streaming)
                    stream(to, result);
                else
                    *(vec *)to = result;
            }
        }
        for (; k < columns; k++) out[k] *= scale;
    }
}
