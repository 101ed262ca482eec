/* trick: the exponential by one multiplication into the exponent bits (Schraudolph 1999)
 * problem: softmax
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: incorrect
 */
#include <stdint.h>
#include <string.h>

static inline float exponential(float x) {
    const float scaled = x < -87.0f ? -87.0f : x;
    const int32_t bits = (int32_t)(scaled * 12102203.0f) + 1064872507;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void row_from(const float *restrict in, float *restrict out, int64_t columns, float largest) {
    float sum = 0.0f;
    for (int64_t i = 0; i < columns; i++) {
        const float value = exponential(in[i] - largest);
        out[i] = value;
        sum += value;
    }
    const float scale = 1.0f / sum;
    for (int64_t i = 0; i < columns; i++) out[i] *= scale;
}

static float maximum(const float *in, int64_t columns) {
    float largest = in[0];
    for (int64_t i = 1; i < columns; i++) largest = in[i] > largest ? in[i] : largest;
    return largest;
}
void kernel(const float *restrict x, float *restrict y, int64_t rows, int64_t columns) {
    for (int64_t r = 0; r < rows; r++)
        row_from(x + r * columns, y + r * columns, columns, maximum(x + r * columns, columns));
}
