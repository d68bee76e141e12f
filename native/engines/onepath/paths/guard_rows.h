/* guard_rows.h - the guards of a node in rows. Law: as in guard_rows.c. */
#ifndef TM_ONEPATH_GUARD_ROWS_H
#define TM_ONEPATH_GUARD_ROWS_H

#include "engines/onepath/state.h"

/* Where the first test fails, does the other, as far as that can be seen? */
bool onepath_guard_fails_with(const tm_engine *engine, onepath_test first, onepath_test other);
/* The last fork of a node is a new guard: it goes to its place in a row. */
void onepath_guards_line_up(const tm_engine *engine, onepath_node *node);
/* For validation: do those fail with each guard of which it says so? */
bool onepath_guards_are_in_rows(const tm_engine *engine, const onepath_node *node);

#endif
