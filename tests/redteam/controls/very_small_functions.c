/* trick: is made of functions of one operation each
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: accepted
 */
#include <math.h>
#include <stdint.h>

static inline float square(float v) { return v * v; }
static inline float plus(float a, float b) { return a + b; }
static inline float times(float a, float b) { return a * b; }
static inline float root(float v) { return sqrtf(v); }
static inline float inverse(float v) { return 1.0f / v; }
static inline const float *row(const float *from, int64_t r, int64_t n) { return from + r * n; }

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    for (int64_t r = 0; r < rows; r++) {
        float sum = 0.0f;
        for (int64_t i = 0; i < hidden; i++) sum = plus(sum, square(row(x, r, hidden)[i]));
        const float scale = inverse(root(plus(sum / (float)hidden, 1e-6f)));
        for (int64_t i = 0; i < hidden; i++) y[r * hidden + i] = times(times(row(x, r, hidden)[i], scale), weight[i]);
    }
}
