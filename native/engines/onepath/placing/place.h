/* place.h - puts a filter into the place that is chosen for it. Law: as in place.c. */
#ifndef TM_ONEPATH_PLACE_H
#define TM_ONEPATH_PLACE_H

#include "engines/onepath/state.h"

/* Make a record reachable; reorders its tests. An earlier place in the record is overwritten, not freed. false if out
 * of memory, then nothing changed. */
bool onepath_activate(tm_engine *engine, uint32_t handle, onepath_tests *tests);
/* Move an active filter to the place that is best now, or into a tree of boxes; false if out of memory, then it stays
 * where it was. */
bool onepath_move_anew(tm_engine *engine, uint32_t handle, bool to_boxes);

#endif
