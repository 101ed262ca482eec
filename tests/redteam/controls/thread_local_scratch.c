/* trick: keeps its scratch in thread-local storage
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: accepted
 */
#include <math.h>
#include <stdint.h>

static _Thread_local float kept[8192];
static _Thread_local long used;

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * hidden;
        float sum = 0.0f;
        for (int64_t i = 0; i < hidden; i++) sum += in[i] * in[i];
        kept[used++ % 8192] = sum;
        const float scale = 1.0f / sqrtf(kept[(used - 1) % 8192] / (float)hidden + 1e-6f);
        for (int64_t i = 0; i < hidden; i++) y[r * hidden + i] = in[i] * scale * weight[i];
    }
}
