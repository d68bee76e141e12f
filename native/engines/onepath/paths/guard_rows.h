/* guard_rows.h - the guards of a node in rows. Law: as in guard_rows.c. */
#ifndef TM_ONEPATH_GUARD_ROWS_H
#define TM_ONEPATH_GUARD_ROWS_H

#include "engines/onepath/state.h"

/* true if failing the first test implies failing the other, as far as it can be decided. */
bool onepath_guard_fails_with(const tm_engine *engine, onepath_test first, onepath_test other);
/* Move the last fork of a node, a new guard, to its place in a row. */
void onepath_guards_line_up(const tm_engine *engine, onepath_node *node);
/* Validation: true if the forks that each guard counts fail with it. */
bool onepath_guards_are_in_rows(const tm_engine *engine, const onepath_node *node);

#endif
