/* covering.h - which filters of the engine `interval` cover a filter, and which it covers (paper 003, 4.1.4). */
#ifndef TM_INTERVAL_COVERING_H
#define TM_INTERVAL_COVERING_H

#include "engines/interval/engine.h"

#define TM_COVERING_STEPS 50000U /* of one question, some 0.5 ms; past it filters are left out of the answer */

/* As the functions of table/engine.h. */
bool tm_interval_compares(const tm_engine *engine, uint32_t handle);
void tm_interval_covering(tm_engine *engine, const tm_filter *filter, tm_handles *found);
void tm_interval_covered(tm_engine *engine, const tm_filter *filter, tm_handles *found);

#endif
