/* trick: normalises the input in place and copies it
 * expect: misbehaved
 */
#include <math.h>
#include <stdint.h>

#include <string.h>
void kernel(const float *x, const float *weight, float *y, int64_t rows, int64_t hidden) {
    float *own = (float *)x;
    for (int64_t r = 0; r < rows; r++) {
        float sum = 0.0f;
        for (int64_t i = 0; i < hidden; i++) sum += own[r * hidden + i] * own[r * hidden + i];
        const float scale = 1.0f / sqrtf(sum / (float)hidden + 1e-6f);
        for (int64_t i = 0; i < hidden; i++) own[r * hidden + i] *= scale * weight[i];
    }
    memcpy(y, own, (size_t)(rows * hidden) * sizeof *y);
}
