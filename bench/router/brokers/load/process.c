/* process.c - see process.h. */
#include "process.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fail.h"

#define STAT_BYTES 1024

static void read_about(pid_t pid, const char *what, char text[STAT_BYTES]) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, what);
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        fail("process %d is gone", (int)pid);
    }
    size_t length = fread(text, 1, STAT_BYTES - 1, file);
    text[length] = '\0';
    fclose(file);
}

double process_cpu_seconds(pid_t pid) {
    char text[STAT_BYTES];
    unsigned long user = 0, system = 0;
    read_about(pid, "stat", text);
    const char *behind_name = strrchr(text, ')'); /* a name may contain blanks and brackets */
    if (behind_name == NULL ||
        sscanf(behind_name + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2) {
        fail("/proc/%d/stat cannot be read", (int)pid);
    }
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

uint64_t process_resident_bytes(pid_t pid) {
    char text[STAT_BYTES];
    unsigned long pages = 0;
    read_about(pid, "statm", text);
    if (sscanf(text, "%*u %lu", &pages) != 1) {
        fail("/proc/%d/statm cannot be read", (int)pid);
    }
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}
