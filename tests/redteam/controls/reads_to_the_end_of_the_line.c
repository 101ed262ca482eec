/* trick: loads whole aligned lines of its inputs, whose start is aligned, and masks what is not its own
 * expect: accepted
 */
#include <math.h>
#include <stdint.h>

typedef float vec __attribute__((vector_size(64), may_alias));
typedef int32_t ivec __attribute__((vector_size(64), may_alias));

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    const ivec lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * hidden;
        const int64_t before = (int64_t)((uintptr_t)in % 64 / 4);
        vec part = {0};
        for (int64_t i = -before; i < hidden; i += 16) {
            const ivec own = (lane >= (int32_t)(i < 0 ? -i : 0)) & (lane < (int32_t)(hidden - i < 16 ? hidden - i : 16));
            const vec v = (vec)(*(const ivec *)(in + i) & own);
            part += v * v;
        }
        float sum = 0.0f;
        for (int k = 0; k < 16; k++) sum += part[k];
        const float scale = 1.0f / sqrtf(sum / (float)hidden + 1e-6f);
        for (int64_t i = 0; i < hidden; i++) y[r * hidden + i] = in[i] * scale * weight[i];
    }
}
