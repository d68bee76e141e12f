/* clock.h - the clocks of the system, in nanoseconds: the only place that reads them.
 *
 * Law: durations are differences of tm_clock_ns, which is never set; tm_clock_unix_ns is for times that others read.
 */
#ifndef TM_CLOCK_H
#define TM_CLOCK_H

#include <stdint.h>

/* Return the time since some moment in the past; it never goes back. */
uint64_t tm_clock_ns(void);
/* Return the time since 1970 by the system's clock, which may be set, also back. */
uint64_t tm_clock_unix_ns(void);
/* Return the running time of the calling thread. It takes a system call, unlike the others. */
uint64_t tm_clock_thread_ns(void);

#endif
