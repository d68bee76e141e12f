/* patterns_pass.h - all patterns that a value satisfies, in one pass. Law: as in patterns_pass.c. */
#ifndef TM_ONEPATH_PATTERNS_PASS_H
#define TM_ONEPATH_PATTERNS_PASS_H

#include "engines/onepath/values/patterns.h"

/* Write to `out` the ids of all patterns that the value satisfies, each once, at most `capacity`; returns how many
 * there are, which may be more. The trie stores links and stamps: not for two threads at once. If the work budget is
 * used up, only a part of the value was scanned. */
size_t onepath_patterns_find(onepath_patterns *patterns, const uint8_t *bytes, size_t length, uint32_t *out,
                             size_t capacity, tm_work *work);

#endif
