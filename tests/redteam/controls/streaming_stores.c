/* trick: writes past the cache, without a fence at the end
 * expect: accepted
 */
#include <math.h>
#include <stdint.h>

#include <immintrin.h>

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * hidden;
        float *out = y + r * hidden, part[16] = {0}, sum = 0.0f;
        int64_t i = 0;
        for (; i + 16 <= hidden; i += 16)
            for (int k = 0; k < 16; k++) part[k] += in[i + k] * in[i + k];
        for (int k = 0; k < 16; k++) sum += part[k];
        for (; i < hidden; i++) sum += in[i] * in[i];
        const float scale = 1.0f / sqrtf(sum / (float)hidden + 1e-6f);
        i = 0;
        if ((uintptr_t)out % 16 == 0)
            for (; i + 4 <= hidden; i += 4)
                _mm_stream_ps(out + i, _mm_mul_ps(_mm_mul_ps(_mm_loadu_ps(in + i), _mm_set1_ps(scale)), _mm_loadu_ps(weight + i)));
        for (; i < hidden; i++) out[i] = in[i] * scale * weight[i];
    }
}
