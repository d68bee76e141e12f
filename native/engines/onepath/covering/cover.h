/* cover.h - finds a simpler filter of a link that implies a filter of that link. Law: as in cover.c. */
#ifndef TM_ONEPATH_COVER_H
#define TM_ONEPATH_COVER_H

#include "engines/onepath/state.h"

/* Return an active filter of the interface, on one attribute, no tombstone and not `except`, that covers these tests;
 * or ONEPATH_NONE. */
uint32_t onepath_find_coverer(tm_engine *engine, uint32_t interface, const onepath_tests *tests, uint32_t except);
/* Return how many filters a match can reach. Does not read every record: a router calls it between two messages. */
uint64_t onepath_count_active(const tm_engine *engine);

#endif
