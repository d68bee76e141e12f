/* clock.h - the clocks of the system, in nanoseconds: the one place that asks them.
 *
 * Law: durations are differences of tm_clock_ns, which nobody sets; tm_clock_unix_ns is for times that others read.
 */
#ifndef TM_CLOCK_H
#define TM_CLOCK_H

#include <stdint.h>

/* Since some moment in the past; never goes back. */
uint64_t tm_clock_ns(void);
/* Since 1970, as the system's clock has it; may be set, back too. */
uint64_t tm_clock_unix_ns(void);
/* That the calling thread has run. A system call, which the others are not. */
uint64_t tm_clock_thread_ns(void);

#endif
