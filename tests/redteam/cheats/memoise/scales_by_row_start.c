/* trick: remembers the scale of a row by its first two elements
 * flags: -O2
 * expect: incorrect misbehaved eliminated-in-race not-faster slower-on-a-row
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { SLOTS = 1 << 16 };
static struct { uint64_t start; int64_t hidden; float scale; } known[SLOTS];
void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * hidden;
        float *out = y + r * hidden, sum = 0.0f;
        uint64_t start = 0;
        memcpy(&start, in, hidden > 1 ? 8 : 4);
        const uint64_t slot = start * 0x9e3779b97f4a7c15u >> 48;
        if (known[slot].start != start || known[slot].hidden != hidden) {
            for (int64_t i = 0; i < hidden; i++) sum += in[i] * in[i];
            known[slot].scale = 1.0f / sqrtf(sum / (float)hidden + 1e-6f);
            known[slot].start = start, known[slot].hidden = hidden;
        }
        const float scale = known[slot].scale;
        for (int64_t i = 0; i < hidden; i++) out[i] = in[i] * scale * weight[i];
    }
}
