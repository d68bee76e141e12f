/* move.h - moves a record from one bucket to another, behind it or beside it. Law: as in move.c. */
#ifndef TM_ONEPATH_MOVE_H
#define TM_ONEPATH_MOVE_H

#include "engines/onepath/state.h"

/* Move a record behind its bucket, if that is opened and the record has a step; false if out of memory, then nothing
 * changed. */
bool onepath_move_on(tm_engine *engine, uint32_t handle);
/* Move a record from behind a guard to behind another one of that node, which it implies; false if out of memory, then
 * nothing changed. */
bool onepath_move_beside(tm_engine *engine, uint32_t handle, uint32_t branch);

#endif
