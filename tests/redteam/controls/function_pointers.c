/* trick: chooses its parts through function pointers
 * expect: accepted
 */
#include <math.h>
#include <stdint.h>

typedef float sum_function(const float *, int64_t);
typedef void scale_function(const float *, const float *, float *, int64_t, float);

static float sum_long(const float *in, int64_t n) {
    float part[32] = {0}, sum = 0.0f;
    int64_t i = 0;
    for (; i + 32 <= n; i += 32)
        for (int k = 0; k < 32; k++) part[k] += in[i + k] * in[i + k];
    for (int k = 0; k < 32; k++) sum += part[k];
    for (; i < n; i++) sum += in[i] * in[i];
    return sum;
}

static float sum_short(const float *in, int64_t n) {
    float sum = 0.0f;
    for (int64_t i = 0; i < n; i++) sum += in[i] * in[i];
    return sum;
}

static void scale_row(const float *in, const float *weight, float *out, int64_t n, float scale) {
    for (int64_t i = 0; i < n; i++) out[i] = in[i] * scale * weight[i];
}

static sum_function *const sums[] = {sum_short, sum_long};
static scale_function *volatile scaling = scale_row;

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    sum_function *chosen = sums[hidden >= 32];
    for (int64_t r = 0; r < rows; r++)
        scaling(x + r * hidden, weight, y + r * hidden, hidden, 1.0f / sqrtf(chosen(x + r * hidden, hidden) / (float)hidden + 1e-6f));
}
