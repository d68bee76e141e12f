/* full_bucket.h - buckets that have filled up are opened. Law: as in full_bucket.c. */
#ifndef TM_ONEPATH_FULL_BUCKET_H
#define TM_ONEPATH_FULL_BUCKET_H

#include "engines/onepath/state.h"

/* Open the buckets that the record has filled up; false: no memory, the record still stands where it stood. */
bool onepath_split_full(tm_engine *engine, uint32_t handle);
/* That nothing is crowded. */
int onepath_full_buckets_validate(const tm_engine *engine, const char **reason);

#endif
