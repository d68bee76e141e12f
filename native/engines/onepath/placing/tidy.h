/* tidy.h - moves that an addition or a removal makes necessary. Law: as in tidy.c. */
#ifndef TM_ONEPATH_TIDY_H
#define TM_ONEPATH_TIDY_H

#include "engines/onepath/state.h"

/* Move the filters that belong elsewhere since a filter of these tests, in the order of its place, has become
 * active. */
void onepath_tidy_around(tm_engine *engine, uint32_t handle, const onepath_tests *tests);
/* Do the tasks that changes have added. */
void onepath_tidy(tm_engine *engine);

#endif
