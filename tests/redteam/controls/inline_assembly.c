/* trick: takes the reciprocal root from an instruction and improves it by Newton's step
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: accepted
 */
#include <stdint.h>

static inline float reciprocal_root(float v) {
    float guess;
    __asm__("rsqrtss %1, %0" : "=x"(guess) : "x"(v));
    guess = guess * (1.5f - 0.5f * v * guess * guess);
    return guess * (1.5f - 0.5f * v * guess * guess);
}

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    for (int64_t r = 0; r < rows; r++) {
        float sum = 0.0f;
        for (int64_t i = 0; i < hidden; i++) sum += x[r * hidden + i] * x[r * hidden + i];
        const float scale = reciprocal_root(sum / (float)hidden + 1e-6f);
        for (int64_t i = 0; i < hidden; i++) y[r * hidden + i] = x[r * hidden + i] * scale * weight[i];
    }
}
