/* work.h - filters around which others are to move before an addition or a removal is over.
 *
 * Law: a change that finds more to move adds it to the list, and tidy.c does it once the change itself is done. So a
 * move never begins within another one. The list is bounded by ONEPATH_WORK_MAX; work that finds no room is dropped,
 * which leaves the table exact: a family that is small is noted with the next filter that leaves it, and a bucket that
 * is full with the next that comes.
 */
#ifndef TM_ONEPATH_WORK_H
#define TM_ONEPATH_WORK_H

#include "engines/onepath/state.h"

void onepath_work_add(tm_engine *engine, onepath_task task, uint32_t handle);

#endif
