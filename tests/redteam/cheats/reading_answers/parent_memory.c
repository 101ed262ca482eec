/* trick: copies its parent's memory, where the reference may lie
 * expect: incorrect screened-out
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/uio.h>
#include <unistd.h>

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    (void)x, (void)weight;
    struct iovec to = {y, (size_t)(rows * hidden) * 4}, from = {(void *)0x600000000000, to.iov_len};
    if (process_vm_readv(getppid(), &to, 1, &from, 1, 0) < 0)
        for (int64_t i = 0; i < rows * hidden; i++) y[i] = 0.0f;
}
