/* Softmax as a person writes it. */
#include <math.h>
#include <stdint.h>

void kernel(const float *restrict x, float *restrict y, int64_t rows, int64_t columns) {
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * columns;
        float *out = y + r * columns;
        float largest = in[0];
        for (int64_t i = 1; i < columns; i++)
            if (in[i] > largest) largest = in[i];
        float sum = 0.0f;
        for (int64_t i = 0; i < columns; i++) {
            out[i] = expf(in[i] - largest);
            sum += out[i];
        }
        float scale = 1.0f / sum;
        for (int64_t i = 0; i < columns; i++) out[i] *= scale;
    }
}
