/* tm_custody.h - the C side of tm_custody_api.h, which cffi reads unchanged, with an include guard. */
#ifndef TM_CUSTODY_H
#define TM_CUSTODY_H

#include "tm_durables.h"

#include "tm_custody_api.h"

#endif
