/* match.h - one message against the table. Law: as in match.c. */
#ifndef TM_ONEPATH_MATCH_H
#define TM_ONEPATH_MATCH_H

#include "engines/onepath/state.h"

/* What the values of a message may contain together without being searched again: where there are many patterns, as
 * many, since a long value that contains many is what a second pass would cost most for. */
#define ONEPATH_MESSAGE_PATTERNS_MIN 1024U
#define ONEPATH_MANY_PATTERNS (4 * ONEPATH_MESSAGE_PATTERNS_MIN)

static inline uint32_t onepath_message_patterns(const tm_engine *engine) {
    return engine->pattern_scratch_capacity - engine->patterns.count;
}

void onepath_match(tm_engine *engine, const tm_attribute *attributes, size_t count, tm_answer *answer);

#endif
