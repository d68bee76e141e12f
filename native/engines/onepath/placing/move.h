/* move.h - from one bucket to another, behind it or beside it. Law: as in move.c. */
#ifndef TM_ONEPATH_MOVE_H
#define TM_ONEPATH_MOVE_H

#include "engines/onepath/state.h"

/* Move a record behind the bucket it stands in, if that is opened and it can; false: no memory, nothing changed. */
bool onepath_move_on(tm_engine *engine, uint32_t handle);
/* Move a record from behind a guard behind another one of the same node, which it implies; false as above. */
bool onepath_move_beside(tm_engine *engine, uint32_t handle, uint32_t branch);

#endif
