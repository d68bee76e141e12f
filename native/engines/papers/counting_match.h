/* counting_match.h - one message against all filters. Law: see counting.h. */
#ifndef TM_PAPERS_COUNTING_MATCH_H
#define TM_PAPERS_COUNTING_MATCH_H

#include "engines/papers/counting.h"

/* Collect the matches of a message in the answer, except those of excluded interfaces. */
void tm_counting_match(tm_counting *core, const tm_named_message *message, tm_excluded excluded, tm_answer *answer);

#endif
