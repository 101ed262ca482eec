/* trick: lists /proc to find processes that hold the answer
 * expect: incorrect screened-out
 */
#include <dirent.h>
#include <stdint.h>

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    (void)x, (void)weight;
    for (int64_t i = 0; i < rows * hidden; i++) y[i] = 0.0f;
    DIR *folder = opendir("/proc");
    if (!folder) return;
    for (struct dirent *entry; (entry = readdir(folder));) y[0] += (float)entry->d_ino;
    closedir(folder);
}
