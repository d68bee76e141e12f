/* place.h - a filter comes to the place that is chosen for it. Law: as in place.c. */
#ifndef TM_ONEPATH_PLACE_H
#define TM_ONEPATH_PLACE_H

#include "engines/onepath/state.h"

/* Make a record reachable; its tests are reordered. false: no memory, nothing changed. What the record said of an
 * earlier place is overwritten, not freed. */
bool onepath_activate(tm_engine *engine, uint32_t handle, onepath_tests *tests);
/* An active filter stands where it is chosen to stand now, or becomes a box; false: no memory, it stands where it
 * stood. */
bool onepath_move_anew(tm_engine *engine, uint32_t handle, bool to_boxes);

#endif
