/* tm_keeps.h - the C side of tm_keeps_api.h, which cffi reads unchanged, with an include guard. */
#ifndef TM_KEEPS_H
#define TM_KEEPS_H

#include "tm_log.h"

#include "tm_keeps_api.h"

#endif
