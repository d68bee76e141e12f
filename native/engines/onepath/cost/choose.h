/* choose.h - which path to a filter a message is least likely to take. Law: as in choose.c. */
#ifndef TM_ONEPATH_CHOOSE_H
#define TM_ONEPATH_CHOOSE_H

#include "engines/onepath/state.h"

/* The place for a filter; its tests are put in the order the place wants, [0] being the access test. */
onepath_place onepath_choose(const tm_engine *engine, uint32_t interface, onepath_tests *tests);
/* Those in [from, end), by how likely they fail: a name that is rare comes first, of names that are as rare a test that
 * few others make. */
void onepath_order_tests(const tm_engine *engine, onepath_tests *tests, uint32_t from, uint32_t end);

#endif
