/* Softmax, one row after the other. Loops are marked for the rewriter. */
#include <math.h>
#include <stdint.h>

void kernel(const float *restrict x, float *restrict y, int64_t rows, int64_t columns) {
    /* km: independent */
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * columns;
        float *out = y + r * columns;
        float largest = in[0];
        /* km: reduction(max, largest) */
        for (int64_t i = 0; i < columns; i++) {
            largest = in[i] > largest ? in[i] : largest;
        }
        float sum = 0.0f;
        /* km: reduction(+, sum) */
        for (int64_t i = 0; i < columns; i++) {
            float weight = expf(in[i] - largest);
            out[i] = weight;
            sum += weight;
        }
        float scale = 1.0f / sum;
        /* km: independent */
        for (int64_t i = 0; i < columns; i++) {
            out[i] = out[i] * scale;
        }
    }
}
