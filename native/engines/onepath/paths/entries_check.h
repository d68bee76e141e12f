/* entries_check.h - checks that the entries of buckets and lists are those of the filters there. */
#ifndef TM_ONEPATH_ENTRIES_CHECK_H
#define TM_ONEPATH_ENTRIES_CHECK_H

#include "engines/onepath/state.h"

/* Check that every entry of a bucket or a list is that of a filter there, and that no such filter lacks an entry. */
int onepath_entries_validate(const tm_engine *engine, const char **reason);

#endif
