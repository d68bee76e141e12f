/* line_moves.h - moves filters to a line, and from a line to other places. Law: as in line_moves.c. */
#ifndef TM_ONEPATH_LINE_MOVES_H
#define TM_ONEPATH_LINE_MOVES_H

#include "engines/onepath/state.h"

/* Settle the line of the name of a filter just added, if it has one: move some earlier filters to the line, or some
 * filters of a line that is given up to other places. Out of memory they stay, which is exact, too. */
void onepath_lines_settle(tm_engine *engine, const onepath_tests *tests);

#endif
