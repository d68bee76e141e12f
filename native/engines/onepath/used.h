/* used.h - the memory that the filters of a table use. Law: as in used.c. */
#ifndef TM_ONEPATH_USED_H
#define TM_ONEPATH_USED_H

#include "engines/onepath/state.h"

uint64_t onepath_used(const tm_engine *engine);

#endif
