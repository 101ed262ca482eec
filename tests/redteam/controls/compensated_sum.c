/* trick: sums with Kahan's compensation in eight lanes
 * expect: accepted
 */
#include <math.h>
#include <stdint.h>

typedef float vec __attribute__((vector_size(32), aligned(4), may_alias));

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * hidden;
        vec sum = {0}, lost = {0};
        int64_t i = 0;
        for (; i + 8 <= hidden; i += 8) {
            const vec v = *(const vec *)(in + i), term = v * v - lost, next = sum + term;
            lost = next - sum - term;
            sum = next;
        }
        float total = 0.0f;
        for (int k = 0; k < 8; k++) total += sum[k];
        for (; i < hidden; i++) total += in[i] * in[i];
        const float scale = 1.0f / sqrtf(total / (float)hidden + 1e-6f);
        for (i = 0; i < hidden; i++) y[r * hidden + i] = in[i] * scale * weight[i];
    }
}
