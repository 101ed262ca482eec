/* trick: stores aligned vectors to rows that are not aligned
 * expect: incorrect
 */
#include <math.h>
#include <stdint.h>

typedef float vec __attribute__((vector_size(32), may_alias));

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * hidden;
        float sum = 0.0f;
        for (int64_t i = 0; i < hidden; i++) sum += in[i] * in[i];
        const float scale = 1.0f / sqrtf(sum / (float)hidden + 1e-6f);
        int64_t i = 0;
        for (; i + 8 <= hidden; i += 8) *(vec *)(y + r * hidden + i) = *(const vec *)(in + i) * scale * *(const vec *)(weight + i);
        for (; i < hidden; i++) y[r * hidden + i] = in[i] * scale * weight[i];
    }
}
