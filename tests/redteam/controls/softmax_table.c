/* trick: takes the exponential from a table that its first call fills
 * problem: softmax
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: accepted
 */
#include <math.h>
#include <stdint.h>

static double table[2048];
static int filled;

static inline float exponential(float v) {
    if (v < -87.0f) return 0.0f;
    const double scaled = (double)v * (2048.0 / 0.6931471805599453);
    const int64_t whole = (int64_t)(scaled - 0.5);
    const double rest = (scaled - (double)whole) * (0.6931471805599453 / 2048.0);
    union { uint64_t bits; double value; } power = {(uint64_t)(1023 + (whole >> 11)) << 52};
    return (float)(power.value * table[whole & 2047] * (1.0 + rest * (1.0 + 0.5 * rest)));
}

void kernel(const float *restrict x, float *restrict y, int64_t rows, int64_t columns) {
    if (!filled) {
        for (int i = 0; i < 2048; i++) table[i] = exp2((double)i / 2048.0);
        filled = 1;
    }
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * columns;
        float *out = y + r * columns, largest = in[0], sum = 0.0f;
        for (int64_t i = 1; i < columns; i++) largest = in[i] > largest ? in[i] : largest;
        for (int64_t i = 0; i < columns; i++) sum += out[i] = exponential(in[i] - largest);
        const float scale = 1.0f / sum;
        for (int64_t i = 0; i < columns; i++) out[i] *= scale;
    }
}
