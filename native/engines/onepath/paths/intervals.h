/* intervals.h - filters of several bounds on one key, found by the value between. Law: as in intervals.c. */
#ifndef TM_ONEPATH_INTERVALS_H
#define TM_ONEPATH_INTERVALS_H

#include "engines/onepath/state.h"

/* The combined range of tests that are all positive ranges of one key; false: they are not, or nothing is in it. */
bool tamis_only_span(const tm_engine *engine, const tamis_tests *tests, tamis_span *span);
/* What all the tests, which are bounds of one key, leave. */
tamis_interval tamis_interval_of(const tm_engine *engine, const tamis_tests *tests);
/* Compute what the chunk says of upper ends anew, from this row on, and what is said of it in the run; with `behind` of
 * all chunks behind it, too. A run without intervals is left as it is. */
void tamis_top_rows(tamis_chunk *chunk, uint32_t row, const tamis_strings *strings);
void tamis_top_chunks(tamis_run *run, uint32_t chunk, bool behind, const tamis_strings *strings);
int tamis_tops_validate(const tamis_run *run, const tamis_strings *strings, const char **reason);

#endif
