/* SwiGLU, one row after the other. Loops are marked for the rewriter. */
#include <math.h>
#include <stdint.h>

void kernel(const float *restrict a, const float *restrict b, float *restrict y, int64_t rows, int64_t ffn) {
    /* km: independent */
    for (int64_t r = 0; r < rows; r++) {
        const float *gate = a + r * ffn;
        const float *up = b + r * ffn;
        float *out = y + r * ffn;
        /* km: independent */
        for (int64_t i = 0; i < ffn; i++) {
            out[i] = gate[i] / (1.0f + expf(-gate[i])) * up[i];
        }
    }
}
