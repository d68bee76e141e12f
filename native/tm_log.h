/* tm_log.h - tm_log_api.h for C: once in a file, however many headers include it.
 */
#ifndef TM_LOG_H
#define TM_LOG_H

#include "tm.h"
#include "tm_log_api.h"

#endif
