/* descend.h - the way of a filter into opened buckets. Law: as in descend.c. */
#ifndef TM_ONEPATH_DESCEND_H
#define TM_ONEPATH_DESCEND_H

#include "engines/onepath/state.h"

/* From a bucket, on into what is behind it as long as it is opened and the filter has a test to go by. Branches are
 * made if need be; false: no memory, nothing changed but the order of tests. */
bool tamis_descend(tm_engine *engine, tamis_tests *tests, tamis_stand *stand);
/* Could the filter stand further on, were its bucket opened? */
bool tamis_can_descend(const tm_engine *engine, const tamis_tests *tests, const tamis_stand *stand);

#endif
