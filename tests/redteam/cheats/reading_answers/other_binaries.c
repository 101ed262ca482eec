/* trick: reads the folder that its own binary came from, where the opponents lie too
 * expect: incorrect screened-out
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void kernel(const float *restrict x, const float *restrict weight, float *restrict y, int64_t rows, int64_t hidden) {
    (void)x, (void)weight;
    for (int64_t i = 0; i < rows * hidden; i++) y[i] = 0.0f;
    Dl_info own;
    if (!dladdr((void *)kernel, &own)) return;
    char path[4096];
    snprintf(path, sizeof path, "%s", own.dli_fname);
    char *end = strrchr(path, '/');
    if (!end) return;
    *end = 0;
    DIR *folder = opendir(path);
    if (!folder) return;
    for (struct dirent *entry; (entry = readdir(folder));) {
        void *other = dlopen(entry->d_name, RTLD_NOW);
        void (*theirs)(const float *, const float *, float *, int64_t, int64_t) = other ? dlsym(other, "kernel") : 0;
        if (theirs) theirs(x, weight, y, rows, hidden);
    }
}
