/* trick: sends the harness's replies itself and never computes
 * expect: incorrect
 */
#include <stdint.h>

long write(int, const void *, unsigned long);

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    (void)x, (void)weight, (void)y, (void)rows, (void)hidden;
    for (int fd = 0; fd < 64; fd++) write(fd, "d", 1);
}
