/* tm_remote.h - the C side of tm_remote_api.h, which cffi reads unchanged, with an include guard. */
#ifndef TM_REMOTE_H
#define TM_REMOTE_H

#include "tm.h"

#include "tm_remote_api.h"

#endif
