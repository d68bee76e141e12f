/* intervals.h - filters of several bounds on one key, found by the value between. Law: as in intervals.c. */
#ifndef TM_ONEPATH_INTERVALS_H
#define TM_ONEPATH_INTERVALS_H

#include "engines/onepath/state.h"

/* The combined range of tests that are all positive ranges of one key; false: they are not, or nothing is in it. */
bool onepath_only_span(const tm_engine *engine, const onepath_tests *tests, onepath_span *span);
/* What all the tests, which are bounds of one key, leave. */
onepath_interval onepath_interval_of(const tm_engine *engine, const onepath_tests *tests);
/* Compute what the chunk says of upper ends again, from this row on, and what is said of it in the run; with `behind`
 * of all chunks behind it, too. A run without intervals is left as it is. */
void onepath_top_rows(onepath_chunk *chunk, uint32_t row, const onepath_strings *strings);
void onepath_top_chunks(onepath_run *run, uint32_t chunk, bool behind, const onepath_strings *strings);
int onepath_tops_validate(const onepath_run *run, const onepath_strings *strings, const char **reason);

#endif
