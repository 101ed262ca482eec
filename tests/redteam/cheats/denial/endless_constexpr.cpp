/* trick: computes at compile time without end
 * standard: c++17
 * expect: compile-failed compile-timed-out
 */
#include <cmath>
#include <cstdint>

static constexpr long spin(long n) {
    long sum = 0;
    for (long i = 0; i < n; i++) sum += i % 7;
    return sum;
}
template <int N> struct Spin {
    static constexpr long value = spin(3000000 + N) + Spin<N - 1>::value;
};
template <> struct Spin<0> {
    static constexpr long value = 0;
};
static constexpr long many = Spin<800>::value;

extern "C" void kernel(const float *x, const float *weight, float *y, int64_t rows, int64_t hidden) {
    for (int64_t r = 0; r < rows; r++) {
        double sum = 0.0;
        for (int64_t i = 0; i < hidden; i++) sum += (double)x[r * hidden + i] * x[r * hidden + i];
        const float scale = (float)(1.0 / std::sqrt(sum / (double)hidden + 1e-6 + 0.0 * (double)many));
        for (int64_t i = 0; i < hidden; i++) y[r * hidden + i] = x[r * hidden + i] * scale * weight[i];
    }
}
