/* full_bucket.h - opens buckets that are full. Law: as in full_bucket.c. */
#ifndef TM_ONEPATH_FULL_BUCKET_H
#define TM_ONEPATH_FULL_BUCKET_H

#include "engines/onepath/state.h"

/* Open the buckets that the record has filled; false if out of memory, then the record stays where it was. */
bool onepath_split_full(tm_engine *engine, uint32_t handle);
/* Check that no bucket holds more filters than it needs to. */
int onepath_full_buckets_validate(const tm_engine *engine, const char **reason);

#endif
