/* cover.h - is a filter implied by a simpler one of the same link? Law: as in cover.c. */
#ifndef TM_ONEPATH_COVER_H
#define TM_ONEPATH_COVER_H

#include "engines/onepath/state.h"

/* An active filter of the interface, on one attribute, no tombstone and not `except`, that covers these tests; or
 * ONEPATH_NONE. */
uint32_t onepath_find_coverer(tm_engine *engine, uint32_t interface, const onepath_tests *tests, uint32_t except);
/* How many filters a match can reach, without a look at every record: a router is asked between two messages. */
uint64_t onepath_count_active(const tm_engine *engine);

#endif
