/* intervals.h - filters of several bounds on one key, found by the value between them. Law: as in intervals.c. */
#ifndef TM_ONEPATH_INTERVALS_H
#define TM_ONEPATH_INTERVALS_H

#include "engines/onepath/state.h"

/* Return the combined range of tests; false if they are not all positive ranges of one key, or the range is empty. */
bool onepath_only_span(const tm_engine *engine, const onepath_tests *tests, onepath_span *span);
/* Return the intersection of the tests, which are bounds of one key. */
onepath_interval onepath_interval_of(const tm_engine *engine, const onepath_tests *tests);
/* Update the greatest upper ends of a chunk from this row on, and those of the run for the chunk; with `behind`, for
 * all later chunks, too. Does nothing to a run without intervals. */
void onepath_top_rows(onepath_chunk *chunk, uint32_t row, const onepath_strings *strings);
void onepath_top_chunks(onepath_run *run, uint32_t chunk, bool behind, const onepath_strings *strings);
int onepath_tops_validate(const onepath_run *run, const onepath_strings *strings, const char **reason);

#endif
