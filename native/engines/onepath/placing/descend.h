/* descend.h - the path of a filter into opened buckets. Law: as in descend.c. */
#ifndef TM_ONEPATH_DESCEND_H
#define TM_ONEPATH_DESCEND_H

#include "engines/onepath/state.h"

/* Move `stand` from its bucket on behind it, as long as that is opened and the filter has a test to go by. Makes
 * branches where needed; false if out of memory, then nothing changed but the order of tests. */
bool onepath_descend(tm_engine *engine, onepath_tests *tests, onepath_stand *stand);
/* true if the filter could go further by a value, were its bucket opened. */
bool onepath_can_descend(const tm_engine *engine, const onepath_tests *tests, const onepath_stand *stand);

#endif
