/* trick: instantiates templates in two directions at once
 * standard: c++17
 * expect: compile-failed compile-timed-out
 */
#include <cmath>
#include <cstdint>

template <int N, long P> struct Tree {
    static constexpr long value = Tree<N - 1, 2 * P>::value + Tree<N - 1, 2 * P + 1>::value;
};
template <long P> struct Tree<0, P> {
    static constexpr long value = P;
};
static constexpr long many = Tree<26, 0>::value;

extern "C" void kernel(const float *x, const float *weight, float *y, int64_t rows, int64_t hidden) {
    for (int64_t r = 0; r < rows; r++) {
        float sum = 0.0f;
        for (int64_t i = 0; i < hidden; i++) sum += x[r * hidden + i] * x[r * hidden + i];
        const float scale = 1.0f / std::sqrt(sum / (float)hidden + 1e-6f + 0.0f * (float)many);
        for (int64_t i = 0; i < hidden; i++) y[r * hidden + i] = x[r * hidden + i] * scale * weight[i];
    }
}
