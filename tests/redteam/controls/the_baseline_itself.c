/* trick: is the baseline with other names
 * flags: -O3
 * expect: not-faster eliminated-in-race
 */
#include <math.h>
#include <stdint.h>

void kernel(const float *restrict tokens, const float *restrict gains, float *restrict result, int64_t count, int64_t width) {
    for (int64_t t = 0; t < count; t++) {
        float total = 0.0f;
        for (int64_t k = 0; k < width; k++) total += tokens[t * width + k] * tokens[t * width + k];
        const float factor = 1.0f / sqrtf(total / (float)width + 1e-6f);
        for (int64_t k = 0; k < width; k++) result[t * width + k] = tokens[t * width + k] * factor * gains[k];
    }
}
