/* new_guards.h - guards for filters that crowd in a bucket. Law: as in new_guards.c. */
#ifndef TM_ONEPATH_NEW_GUARDS_H
#define TM_ONEPATH_NEW_GUARDS_H

#include "engines/onepath/state.h"

/* A filter has come to this bucket, which is opened and crowded: those that share a test with it go behind a guard, if
 * there are some. false: nothing has moved. */
bool onepath_guards_make(tm_engine *engine, uint32_t handle, uint64_t key);
/* The bucket is crowded, and may be behind a guard of bounds: those that are stricter go behind one of their own beside
 * it. false: nothing has moved. */
bool onepath_guards_split(tm_engine *engine, uint32_t handle, uint64_t key);
int onepath_guards_validate(const tm_engine *engine, const char **reason);

#endif
