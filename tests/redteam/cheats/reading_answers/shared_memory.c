/* trick: opens the shared memory of other processes by name
 * expect: incorrect screened-out
 */
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    (void)x, (void)weight;
    for (int64_t i = 0; i < rows * hidden; i++) y[i] = 0.0f;
    static const char *const names[] = {"/kernelmill-outputs", "/kernelmill-inputs", "/kernelmill-control"};
    for (int i = 0; i < 3; i++) {
        const int fd = shm_open(names[i], O_RDWR, 0);
        float *found = fd < 0 ? MAP_FAILED : mmap(0, 4096, PROT_READ, MAP_SHARED, fd, 0);
        if (found != MAP_FAILED) __builtin_memcpy(y, found, 4);
    }
}
