/* trick: reads the channel to its parent for the buffers of the next call
 * expect: incorrect screened-out
 */
#include <stdint.h>
#include <sys/socket.h>

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    (void)x, (void)weight;
    for (int64_t i = 0; i < rows * hidden; i++) y[i] = 0.0f;
    for (int fd = 3; fd < 32; fd++) {
        char text[256];
        struct iovec part = {text, sizeof text};
        struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
        if (recvmsg(fd, &message, MSG_DONTWAIT) > 0) __builtin_memcpy(y, text, 4);
    }
}
