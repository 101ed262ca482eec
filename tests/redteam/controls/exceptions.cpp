/* trick: keeps its scratch in a vector and catches the exception of an allocation
 * standard: c++17
 * flags: -O3 -march=native -fno-math-errno -fassociative-math -fno-signed-zeros -fno-trapping-math
 * expect: accepted
 */
#include <cmath>
#include <cstdint>
#include <new>
#include <vector>

extern "C" void kernel(const float *x, const float *weight, float *y, int64_t rows, int64_t hidden) {
    std::vector<float> scales;
    try {
        scales.resize(static_cast<size_t>(rows));
        if (rows == 3) throw std::bad_alloc();
    } catch (const std::bad_alloc &) {
        scales.assign(static_cast<size_t>(rows), 0.0f);
    }
    for (int64_t r = 0; r < rows; r++) {
        float sum = 0.0f;
        for (int64_t i = 0; i < hidden; i++) sum += x[r * hidden + i] * x[r * hidden + i];
        scales[static_cast<size_t>(r)] = 1.0f / std::sqrt(sum / static_cast<float>(hidden) + 1e-6f);
    }
    for (int64_t r = 0; r < rows; r++)
        for (int64_t i = 0; i < hidden; i++) y[r * hidden + i] = x[r * hidden + i] * scales[static_cast<size_t>(r)] * weight[i];
}
