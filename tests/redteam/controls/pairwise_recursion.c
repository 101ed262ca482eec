/* trick: sums pairwise by recursion
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: accepted
 */
#include <math.h>
#include <stdint.h>

static float squares(const float *in, int64_t n) {
    if (n > 256) {
        const int64_t half = n / 2;
        return squares(in, half) + squares(in + half, n - half);
    }
    float sum = 0.0f;
    for (int64_t i = 0; i < n; i++) sum += in[i] * in[i];
    return sum;
}

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    for (int64_t r = 0; r < rows; r++) {
        const float scale = 1.0f / sqrtf(squares(x + r * hidden, hidden) / (float)hidden + 1e-6f);
        for (int64_t i = 0; i < hidden; i++) y[r * hidden + i] = x[r * hidden + i] * scale * weight[i];
    }
}
