/* match.h - one message against the table. Law: as in match.c. */
#ifndef TM_ONEPATH_MATCH_H
#define TM_ONEPATH_MATCH_H

#include "engines/onepath/state.h"

/* Patterns in the values of a message that a match can keep without a second search: with many patterns in the table,
 * as many as those, since a second pass costs most for a long value that contains many. */
#define ONEPATH_MESSAGE_PATTERNS_MIN 1024U
#define ONEPATH_MANY_PATTERNS (4 * ONEPATH_MESSAGE_PATTERNS_MIN)

static inline uint32_t onepath_message_patterns(const tm_engine *engine) {
    return engine->pattern_scratch_capacity - engine->patterns.count;
}

/* Collect the matches of a message in the answer. */
void onepath_match(tm_engine *engine, const tm_attribute *attributes, size_t count, tm_answer *answer);

#endif
