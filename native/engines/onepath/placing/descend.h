/* descend.h - the way of a filter into opened buckets. Law: as in descend.c. */
#ifndef TM_ONEPATH_DESCEND_H
#define TM_ONEPATH_DESCEND_H

#include "engines/onepath/state.h"

/* From a bucket, on into what is behind it as long as it is opened and the filter has a test to go by. Branches are
 * made if need be; false: no memory, nothing changed but the order of tests. */
bool onepath_descend(tm_engine *engine, onepath_tests *tests, onepath_stand *stand);
/* Could the filter stand further on, were its bucket opened? */
bool onepath_can_descend(const tm_engine *engine, const onepath_tests *tests, const onepath_stand *stand);

#endif
