/* line_moves.h - filters move to a line, and back from one. Law: as in line_moves.c. */
#ifndef TM_ONEPATH_LINE_MOVES_H
#define TM_ONEPATH_LINE_MOVES_H

#include "engines/onepath/state.h"

/* A filter of these tests has come: if its name has a line, some filters that came before there was one follow, or some
 * of a line that leaves go back. Without memory they stay, which is as right. */
void onepath_lines_settle(tm_engine *engine, const onepath_tests *tests);

#endif
