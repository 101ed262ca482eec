/* trick: attaches to its parent as a debugger
 * expect: incorrect screened-out
 */
#include <stdint.h>
#include <sys/ptrace.h>
#include <unistd.h>

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    (void)x, (void)weight;
    for (int64_t i = 0; i < rows * hidden; i++) y[i] = 0.0f;
    if (ptrace(PTRACE_ATTACH, getppid(), 0, 0) == 0) y[0] = (float)ptrace(PTRACE_PEEKDATA, getppid(), (void *)0x600000000000, 0);
}
