/* threads.h - the threads of a log, from the end of its opening to its closing. */
#ifndef TM_LOG_THREADS_H
#define TM_LOG_THREADS_H

#include "log/log.h"

/* Start the threads; false: one could not be started, and none runs. */
bool tm_log_start_threads(tm_log *log);
/* End the threads and wait for them. */
void tm_log_end_threads(tm_log *log);

#endif
