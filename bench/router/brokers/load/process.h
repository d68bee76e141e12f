/* process.h - what a process has used, from /proc: the daemon's cost, seen from outside.
 */
#ifndef PROCESS_H
#define PROCESS_H

#include <stdint.h>
#include <sys/types.h>

/* User and system time of all threads, in steps of a clock tick (10 ms). */
double process_cpu_seconds(pid_t pid);

uint64_t process_resident_bytes(pid_t pid);

#endif
