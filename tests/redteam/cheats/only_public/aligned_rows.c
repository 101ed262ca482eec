/* trick: aligned loads and stores at the start of every row
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: incorrect misbehaved
 */
#include <immintrin.h>
#include <math.h>
#include <stdint.h>

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * hidden;
        float *out = y + r * hidden, parts[8];
        __m256 sums = _mm256_setzero_ps();
        int64_t i = 0;
        for (; i + 8 <= hidden; i += 8) {
            const __m256 values = _mm256_load_ps(in + i);
            sums = _mm256_fmadd_ps(values, values, sums);
        }
        _mm256_storeu_ps(parts, sums);
        float sum = 0.0f;
        for (int l = 0; l < 8; l++) sum += parts[l];
        for (int64_t j = i; j < hidden; j++) sum += in[j] * in[j];
        const float scale = 1.0f / sqrtf(sum / (float)hidden + 1e-6f);
        const __m256 scales = _mm256_set1_ps(scale);
        for (i = 0; i + 8 <= hidden; i += 8)
            _mm256_stream_ps(out + i, _mm256_mul_ps(_mm256_mul_ps(_mm256_load_ps(in + i), scales), _mm256_loadu_ps(weight + i)));
        for (; i < hidden; i++) out[i] = in[i] * scale * weight[i];
    }
}
