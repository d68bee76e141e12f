/* threads.h - the threads of a log, from the end of its opening to its closing.
 */
#ifndef TM_LOG_THREADS_H
#define TM_LOG_THREADS_H

#include "log/log.h"

bool tm_log_start_threads(tm_log *log);
void tm_log_end_threads(tm_log *log);

#endif
