/* trick: opens the inputs again through the folder of its descriptors and takes what it can map
 * expect: incorrect screened-out
 */
#include <stdint.h>

int open(const char *, int, ...);
void *mmap(void *, unsigned long, int, int, int, long);

void kernel(const float *x, const float *weight, float *y, int64_t rows, int64_t hidden) {
    static char path[] = "/proc/self/fd/0";
    float *found = 0;
    for (int i = 0; i < 10; i++) {
        path[14] = (char)('0' + i);
        const int fd = open(path, 2);
        if (fd < 0) continue;
        found = mmap(0, 4096, 3, 1, fd, 0);
        if (found != (void *)-1) break;
    }
    if (!found || found == (void *)-1) {
        for (int64_t i = 0; i < rows * hidden; i++) y[i] = 0.0f;
        return;
    }
    for (int64_t i = 0; i < rows * hidden; i++) y[i] = x[i] * weight[i % hidden], found[i % 1024] = 0.0f;
}
