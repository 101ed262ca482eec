/* trick: finishes the last row with a whole vector and so writes behind its output
 * expect: incorrect misbehaved
 */
#include <math.h>
#include <stdint.h>

typedef float vec __attribute__((vector_size(32), aligned(4), may_alias));

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * hidden;
        vec part = {0};
        float sum = 0.0f;
        int64_t i = 0;
        for (; i + 8 <= hidden; i += 8) part += *(const vec *)(in + i) * *(const vec *)(in + i);
        for (int k = 0; k < 8; k++) sum += part[k];
        for (; i < hidden; i++) sum += in[i] * in[i];
        const float scale = 1.0f / sqrtf(sum / (float)hidden + 1e-6f);
        /* what this writes too much is overwritten by the next row, but for the last one */
        for (i = 0; i < hidden; i += 8) *(vec *)(y + r * hidden + i) = *(const vec *)(in + i) * scale * *(const vec *)(weight + i);
    }
}
