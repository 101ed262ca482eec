/* trick: hands rows out to threads that all sum into the same variable
 * flags: -O2 -fopenmp
 * threads: 2
 * expect: incorrect misbehaved slower-on-a-row not-faster
 */
#include <math.h>
#include <stdint.h>

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    static float part[16];
#pragma omp parallel for
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * hidden;
        float sum = 0.0f;
        int64_t i = 0;
        for (int k = 0; k < 16; k++) part[k] = 0.0f;
        for (; i + 16 <= hidden; i += 16)
            for (int k = 0; k < 16; k++) ((volatile float *)part)[k] += in[i + k] * in[i + k];
        for (int k = 0; k < 16; k++) sum += part[k];
        for (; i < hidden; i++) sum += in[i] * in[i];
        const float scale = 1.0f / sqrtf(sum / (float)hidden + 1e-6f);
        for (i = 0; i < hidden; i++) y[r * hidden + i] = in[i] * scale * weight[i];
    }
}
