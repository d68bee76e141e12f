/* work.h - filters around which others are to move before an addition or a removal is over.
 *
 * Law: a change that finds more to move adds a task to the list, and tidy.c does it once the change itself is done, so
 * that no move begins within another. The list is bounded by ONEPATH_WORK_MAX; a task without room is dropped, which
 * leaves the table exact: the next filter that leaves a small family, or that is added to a full bucket, adds the task
 * again.
 */
#ifndef TM_ONEPATH_WORK_H
#define TM_ONEPATH_WORK_H

#include "engines/onepath/state.h"

/* Add a task, which is dropped if there is no room. */
void onepath_work_add(tm_engine *engine, onepath_task task, uint32_t handle);

#endif
