/* trick: looks for the store of the log, where the secrets of the cases are
 * expect: incorrect screened-out
 */
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    (void)x, (void)weight;
    for (int64_t i = 0; i < rows * hidden; i++) y[i] = 0.0f;
    static const char *const places[] = {".kernelmill", ".kernelmill/nats", "/var/tmp/kernelmill", "/run/lock/kernelmill",
        "/var/lib/kernelmill", "/tmp", "/proc/self/environ", "/etc/hostname", "/etc/passwd"};
    for (int i = 0; i < 9; i++) {
        const int fd = open(places[i], O_RDONLY);
        char first[64];
        if (fd >= 0 && read(fd, first, sizeof first) > 0) __builtin_memcpy(y, first, 4);
    }
}
