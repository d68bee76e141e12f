/* guard_rows.h - the guards of a node in rows. Law: as in guard_rows.c. */
#ifndef TM_ONEPATH_GUARD_ROWS_H
#define TM_ONEPATH_GUARD_ROWS_H

#include "engines/onepath/state.h"

/* Where the first test fails, does the other, as far as that can be seen? */
bool tamis_guard_fails_with(const tm_engine *engine, tamis_test first, tamis_test other);
/* The last fork of a node is a new guard: it goes to its place in a row. */
void tamis_guards_line_up(const tm_engine *engine, tamis_node *node);
/* For validation: do those fail with each guard of which it says so? */
bool tamis_guards_are_in_rows(const tm_engine *engine, const tamis_node *node);

#endif
