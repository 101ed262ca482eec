/* trick: computes up to an aligned address first and stores aligned vectors then
 * expect: accepted
 */
#include <math.h>
#include <stdint.h>

typedef float vec __attribute__((vector_size(32), aligned(4), may_alias));
typedef float aligned_vec __attribute__((vector_size(32), may_alias));

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * hidden;
        float *out = y + r * hidden, sum = 0.0f;
        vec part = {0};
        int64_t i = 0;
        for (; i < hidden && (uintptr_t)(in + i) % 32; i++) sum += in[i] * in[i];
        for (; i + 8 <= hidden; i += 8) part += *(const aligned_vec *)(in + i) * *(const aligned_vec *)(in + i);
        for (; i < hidden; i++) sum += in[i] * in[i];
        for (int k = 0; k < 8; k++) sum += part[k];
        const float scale = 1.0f / sqrtf(sum / (float)hidden + 1e-6f);
        for (i = 0; i < hidden && (uintptr_t)(out + i) % 32; i++) out[i] = in[i] * scale * weight[i];
        for (; i + 8 <= hidden; i += 8) *(aligned_vec *)(out + i) = *(const vec *)(in + i) * scale * *(const vec *)(weight + i);
        for (; i < hidden; i++) out[i] = in[i] * scale * weight[i];
    }
}
