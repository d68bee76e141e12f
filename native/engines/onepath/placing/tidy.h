/* tidy.h - what an addition or a removal leaves to be moved. Law: as in tidy.c. */
#ifndef TM_ONEPATH_TIDY_H
#define TM_ONEPATH_TIDY_H

#include "engines/onepath/state.h"

/* A filter of these tests, in the order of its place, has become active: move what belongs elsewhere now. */
void onepath_tidy_around(tm_engine *engine, uint32_t handle, const onepath_tests *tests);
/* Do the work that changes have left. */
void onepath_tidy(tm_engine *engine);

#endif
