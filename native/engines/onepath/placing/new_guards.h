/* new_guards.h - guards for the filters of a full bucket. Law: as in new_guards.c. */
#ifndef TM_ONEPATH_NEW_GUARDS_H
#define TM_ONEPATH_NEW_GUARDS_H

#include "engines/onepath/state.h"

/* Make a guard in this bucket, which is opened and full, for the filters that share a test with one just added, if
 * there are enough. false if nothing has moved. */
bool onepath_guards_make(tm_engine *engine, uint32_t handle, uint64_t key);
/* Split the guard of bounds that this full bucket is behind, if it is: stricter filters go behind a new guard beside
 * it. false if nothing has moved. */
bool onepath_guards_split(tm_engine *engine, uint32_t handle, uint64_t key);
int onepath_guards_validate(const tm_engine *engine, const char **reason);

#endif
