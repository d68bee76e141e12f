/* crowd.h - buckets that have filled up are opened. Law: as in crowd.c. */
#ifndef TM_ONEPATH_CROWD_H
#define TM_ONEPATH_CROWD_H

#include "engines/onepath/state.h"

/* Open the buckets that the record has filled up; false: no memory, the record still stands where it stood. */
bool onepath_relieve(tm_engine *engine, uint32_t handle);
/* That nothing is crowded. */
int onepath_crowds_validate(const tm_engine *engine, const char **reason);

#endif
