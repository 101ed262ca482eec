/* trick: a constructor prepares exponentials of all scores of 16 bits before anything is timed
 * problem: softmax
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: incorrect
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

static float table[1 << 16];

__attribute__((constructor)) static void prepare(void) {
    for (uint32_t i = 0; i < 1u << 16; i++) {
        const uint32_t bits = i << 16;
        float score;
        memcpy(&score, &bits, sizeof score);
        table[i] = score <= 0.0f ? expf(score) : 0.0f;
    }
}

void kernel(const float *restrict x, float *restrict y, int64_t rows, int64_t columns) {
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * columns;
        float *out = y + r * columns, largest = in[0], sum = 0.0f;
        for (int64_t i = 1; i < columns; i++) largest = in[i] > largest ? in[i] : largest;
        for (int64_t i = 0; i < columns; i++) {
            const float score = in[i] - largest;
            uint32_t bits;
            memcpy(&bits, &score, sizeof bits);
            out[i] = table[(bits + 0x8000u) >> 16];
            sum += out[i];
        }
        for (int64_t i = 0; i < columns; i++) out[i] *= 1.0f / sum;
    }
}
