/* covered.h - the filters that a filter of the engine `interval` covers, from its structures (paper 003, 4.1.4). */
#ifndef TM_INTERVAL_COVERED_H
#define TM_INTERVAL_COVERED_H

#include "engines/interval/engine.h"

/* As `covered` of table/engine.h. */
int tm_interval_covered(tm_engine *engine, uint32_t handle, uint32_t *handles, size_t capacity, size_t *count);

#endif
