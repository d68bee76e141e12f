/* match.h - a message against the structures. Law: see match.c. */
#ifndef TM_INTERVAL_MATCH_H
#define TM_INTERVAL_MATCH_H

#include "engines/interval/engine.h"

/* Collect the matches of a message in the answer. */
void tm_interval_match(tm_engine *engine, const tm_attribute *attributes, size_t count, tm_answer *answer);

/* Order the axes of a structure and, with the form `whole`, make its tree ahead, in at most `*steps` steps, and reduce
 * `*steps`. */
void tm_interval_settle(tm_engine *engine, tm_structure *structure, uint64_t *steps);

#endif
