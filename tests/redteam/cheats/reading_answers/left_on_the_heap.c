/* trick: searches memory that the harness and the loader gave back for answers of an earlier call
 * flags: -O2
 * expect: incorrect
 */
#include <stdint.h>
#include <stdlib.h>

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    (void)x, (void)weight;
    float *found = malloc((size_t)(rows * hidden) * 4);
    volatile float stack[4096];
    for (int64_t i = 0; i < rows * hidden; i++) y[i] = found[i] != 0.0f ? found[i] : stack[i % 4096];
    free(found);
}
