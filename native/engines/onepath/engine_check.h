/* engine_check.h - checks that the table is as state.h describes it. */
#ifndef TM_ONEPATH_ENGINE_CHECK_H
#define TM_ONEPATH_ENGINE_CHECK_H

#include "engines/onepath/state.h"

int onepath_validate(const tm_engine *engine, const char **reason);

#endif
