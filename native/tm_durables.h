/* tm_durables.h - the C side of tm_durables_api.h, which cffi reads unchanged, with an include guard. */
#ifndef TM_DURABLES_H
#define TM_DURABLES_H

#include "tm_log.h"

#include "tm_durables_api.h"

#endif
