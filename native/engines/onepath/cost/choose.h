/* choose.h - chooses the access path that the fewest messages are expected to take. Law: as in choose.c. */
#ifndef TM_ONEPATH_CHOOSE_H
#define TM_ONEPATH_CHOOSE_H

#include "engines/onepath/state.h"

/* Return the place for a filter; its tests are put in the order of the place, [0] being the access test. */
onepath_place onepath_choose(const tm_engine *engine, uint32_t interface, onepath_tests *tests);
/* Order the tests in [from, end) by how likely they fail: rare names first, among equally rare names the test that
 * fewest others have. */
void onepath_order_tests(const tm_engine *engine, onepath_tests *tests, uint32_t from, uint32_t end);

#endif
