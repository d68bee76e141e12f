/* counting_validate.h - checks the invariants of counting.h one by one. For tests: it reads everything. */
#ifndef TM_PAPERS_COUNTING_VALIDATE_H
#define TM_PAPERS_COUNTING_VALIDATE_H

#include "engines/papers/counting.h"

int tm_counting_validate(const tm_counting *core, const char **reason);
/* Validate a core that has all filters of the table. */
int tm_counting_validate_all(const tm_counting *core, const char **reason);

#endif
