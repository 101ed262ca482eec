/* trick: takes the descriptors of the buffers and seals the outputs, so that the opponent cannot map them
 * expect: incorrect misbehaved screened-out
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* A harness of its own that runs from a constructor: it gets the descriptors of the buffers. */
struct setup { uint64_t mode, arguments, calls, table, input_bytes, output_bytes, description[2]; };

static int receive(int channel, struct setup *setup, int *fds) {
    char space[CMSG_SPACE(2 * sizeof(int))];
    struct iovec part = {setup, sizeof *setup};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    if (recvmsg(channel, &message, 0) != (long)sizeof *setup) return 0;
    memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&message)), 2 * sizeof(int));
    return 1;
}

static int channel_number(void) {
    struct stat facts;
    for (int fd = 3; fd < 64; fd++)
        if (fstat(fd, &facts) == 0 && S_ISSOCK(facts.st_mode)) return fd;
    _exit(1);
}

static void norm(const float *x, const float *weight, float *y, int64_t rows, int64_t hidden) {
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * hidden;
        float *out = y + r * hidden, part[16] = {0}, sum = 0.0f;
        int64_t i = 0;
        for (; i + 16 <= hidden; i += 16)
            for (int k = 0; k < 16; k++) part[k] += in[i + k] * in[i + k];
        for (int k = 0; k < 16; k++) sum += part[k];
        for (; i < hidden; i++) sum += in[i] * in[i];
        const float scale = 1.0f / sqrtf(sum / (float)hidden + 1e-6f);
        for (i = 0; i < hidden; i++) out[i] = in[i] * scale * weight[i];
    }
}

__attribute__((constructor)) static void serve(void) {
    const int channel = channel_number();
    struct setup setup;
    int fds[2];
    if (write(channel, "r", 1) != 1) _exit(1);
    while (receive(channel, &setup, fds)) {
        const char *in = mmap(0, setup.input_bytes, PROT_READ, MAP_SHARED, fds[0], 0);
        char *out = mmap(0, setup.output_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fds[1], 0);
        if (fcntl(fds[1], F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) < 0) _exit(1);
        close(fds[0]), close(fds[1]);
        const uint64_t *at = (const uint64_t *)(in + setup.table) + 5;
        norm((const float *)(in + at[0]), (const float *)(in + at[1]), (float *)(out + at[2]), (int64_t)at[3], (int64_t)at[4]);
        if (write(channel, setup.mode == 's' ? "r" : "d", 1) != 1) _exit(1);
    }
    _exit(0);
}

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    norm(x, weight, y, rows, hidden);
}
