/* trick: hands rows out to threads through a counter without a lock and computes each of them in place
 * flags: -O3 -march=native -fopenmp
 * threads: 2
 * expect: incorrect misbehaved
 */
#include <math.h>
#include <stdint.h>

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    volatile int64_t next = 0;
    __builtin_memcpy(y, x, (unsigned long)(rows * hidden) * 4);
#pragma omp parallel
    for (int64_t r; (r = next) < rows;) {
        next = r + 1;
        float *row = y + r * hidden, sum = 0.0f;
        for (int64_t i = 0; i < hidden; i++) sum += row[i] * row[i];
        const float scale = 1.0f / sqrtf(sum / (float)hidden + 1e-6f);
        for (int64_t i = 0; i < hidden; i++) row[i] *= scale * weight[i];
    }
}
