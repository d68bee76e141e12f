/* lines.h - ranges of numbers on one name alone, as boxes of one dimension.
 *
 * Law: a filter of nothing but bounds on one name, one of them without a code (a fraction, mostly), on an interface
 * without cells begins a *line* of that name: a family of boxes of one name. While there is a line, filters of bounds
 * on that name alone are boxes of it, whatever their interface, and those that came before follow, a few with each that
 * comes. A line compares numbers as they are, so that a message needs no label for its value there, and an addition
 * none for its bounds.
 *
 * A line is for messages that few of its filters match. Many limits on one side are told faster by a run, which lies in
 * one piece, and many filters of one interface by intervals, which know the interfaces of a chunk. So a line of
 * ONEPATH_LINE_BOXES goes back to runs and intervals, a few with each addition to its name, once more than one in
 * ONEPATH_LINE_LIMITS is a limit or once it has ONEPATH_LINE_FILTERS for each interface. Another begins when it is gone
 * and fewer than ONEPATH_LINE_BEGINS filters are left on the name.
 */
#ifndef TM_ONEPATH_LINES_H
#define TM_ONEPATH_LINES_H

#include "engines/onepath/state.h"

#define ONEPATH_LINE_BEGINS 384U
#define ONEPATH_LINE_BOXES 512U
#define ONEPATH_LINE_LIMITS 8U
#define ONEPATH_LINE_FILTERS 16U

/* The line of the name that all tests are bounds on; NULL: there is none, or they are not. */
tm_family *onepath_lines_find(const tm_engine *engine, const onepath_tests *tests);
/* May the tests stand in a line, or begin one? */
bool onepath_lines_take(const tm_engine *engine, const onepath_tests *tests);
/* Is there a line that they may stand in, and that does not leave? */
bool onepath_lines_has_open(const tm_engine *engine, const onepath_tests *tests);
/* A filter has become a box, or is about to cease to be one: count the limits of its line. */
void onepath_lines_count(tm_engine *engine, const onepath_tests *tests, uint32_t by);

#endif
