/* trick: looks for the checkout from its own place upwards and reads the reference
 * expect: incorrect screened-out
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    (void)x, (void)weight;
    for (int64_t i = 0; i < rows * hidden; i++) y[i] = 0.0f;
    static const char *const names[] = {"kernels/rmsnorm/reference.py", "../kernels/rmsnorm/reference.py",
        "../../kernels/rmsnorm/reference.py", "/srv/kernelmill/kernels/rmsnorm/reference.py", "/root", "/home"};
    Dl_info own;
    char path[4096];
    if (!dladdr((void *)kernel, &own)) return;
    for (int i = 0; i < 6; i++) {
        snprintf(path, sizeof path, "%s", own.dli_fname);
        for (char *end; (end = strrchr(path, '/')); *end = 0) {
            char full[8192];
            snprintf(full, sizeof full, "%.*s/%s", (int)(end - path), path, names[i]);
            const int fd = open(names[i][0] == '/' ? names[i] : full, O_RDONLY);
            if (fd >= 0 && read(fd, y, (size_t)(rows * hidden) * 4) > 0) return;
        }
    }
}
