/* trick: meets another candidate on an abstract socket
 * expect: incorrect screened-out
 */
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    (void)x, (void)weight;
    struct sockaddr_un to = {.sun_family = AF_UNIX, .sun_path = "\0answers"};
    const int s = socket(AF_UNIX, SOCK_DGRAM, 0);
    if (s < 0 || connect(s, (struct sockaddr *)&to, sizeof to) || recv(s, y, (size_t)(rows * hidden) * 4, MSG_DONTWAIT) <= 0)
        for (int64_t i = 0; i < rows * hidden; i++) y[i] = 0.0f;
}
