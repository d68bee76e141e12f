/* tm_log.h - the C side of tm_log_api.h, which cffi reads unchanged, with an include guard. */
#ifndef TM_LOG_H
#define TM_LOG_H

#include "tm.h"
#include "tm_log_api.h"

#endif
