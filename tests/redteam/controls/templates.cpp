/* trick: is written with templates, lambdas and a class, and exported to C
 * standard: c++17
 * expect: accepted
 */
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace {

template <int Width> class Lanes {
public:
    void add(const float *in) {
        for (int k = 0; k < Width; k++) part_[k] += in[k] * in[k];
    }
    float total() const { return std::accumulate(part_.begin(), part_.end(), 0.0f); }

private:
    std::array<float, Width> part_{};
};

template <int Width> float squares(const float *in, int64_t n) {
    Lanes<Width> lanes;
    int64_t i = 0;
    for (; i + Width <= n; i += Width) lanes.add(in + i);
    float sum = lanes.total();
    std::for_each(in + i, in + n, [&sum](float v) { sum += v * v; });
    return sum;
}

}  // namespace

extern "C" void kernel(const float *x, const float *weight, float *y, int64_t rows, int64_t hidden) {
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * hidden;
        const float sum = hidden >= 64 ? squares<32>(in, hidden) : squares<4>(in, hidden);
        const float scale = 1.0f / std::sqrt(sum / static_cast<float>(hidden) + 1e-6f);
        std::transform(in, in + hidden, weight, y + r * hidden, [scale](float v, float w) { return v * scale * w; });
    }
}
