/* engine_check.h - is the table what state.h says it is? */
#ifndef TM_ONEPATH_ENGINE_CHECK_H
#define TM_ONEPATH_ENGINE_CHECK_H

#include "engines/onepath/state.h"

int onepath_validate(const tm_engine *engine, const char **reason);

#endif
