/* patterns_validate.h - checks that the trie of patterns is as patterns.h describes it. */
#ifndef TM_ONEPATH_PATTERNS_VALIDATE_H
#define TM_ONEPATH_PATTERNS_VALIDATE_H

#include "engines/onepath/values/patterns.h"

/* TM_OK or TM_MISUSED with a reason. */
int onepath_patterns_validate(const onepath_patterns *patterns, const char **reason);

#endif
