/* The plain loop, with the declaration that lets the compiler call the vector variants of expf. */
#include <stdint.h>

__attribute__((simd("notinbranch"), const)) float expf(float);

void kernel(const float *restrict x, float *restrict y, int64_t rows, int64_t columns) {
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * columns;
        float *out = y + r * columns;
        float largest = in[0];
#pragma omp simd reduction(max : largest)
        for (int64_t i = 0; i < columns; i++) largest = in[i] > largest ? in[i] : largest;
        float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
        for (int64_t i = 0; i < columns; i++) {
            float weight = expf(in[i] - largest);
            out[i] = weight;
            sum += weight;
        }
        float scale = 1.0f / sum;
#pragma omp simd
        for (int64_t i = 0; i < columns; i++) out[i] *= scale;
    }
}
