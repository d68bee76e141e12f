/* entries_check.h - are the entries of buckets and lists those of the filters that stand there? */
#ifndef TM_ONEPATH_ENTRIES_CHECK_H
#define TM_ONEPATH_ENTRIES_CHECK_H

#include "engines/onepath/state.h"

/* Is every entry of a bucket or a list that of a filter which stands there, and every such filter in its buckets? */
int onepath_entries_validate(const tm_engine *engine, const char **reason);

#endif
