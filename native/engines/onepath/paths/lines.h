/* lines.h - ranges of numbers on one name alone, as boxes of one dimension.
 *
 * Law: a filter that has only bounds on one name, one of them without a code (usually a fraction), on an interface
 * without cells begins a *line* of that name: a family of boxes of one name. While there is a line, filters of bounds
 * on that name alone are boxes of it, on any interface, and earlier filters follow, a few with each addition. A line
 * compares numbers directly, so that a message needs no label for its value there, and an addition none for its bounds.
 *
 * A line suits messages that few of its filters match. Many limits on one side are found faster by a run, which is
 * contiguous, and many filters of one interface by intervals, which know the interfaces of a chunk. So a line moves
 * back to runs and intervals, a few boxes with each addition to its name, once it has too many limits
 * (onepath_lines_limits_max), which are more than one in ONEPATH_LINE_LIMITS of its filters, or once it has
 * ONEPATH_LINE_BOXES filters and ONEPATH_LINE_FILTERS for each interface. Another line begins when it is empty and
 * fewer than ONEPATH_LINE_BEGINS filters are left on the name, at most half as many limits among them.
 */
#ifndef TM_ONEPATH_LINES_H
#define TM_ONEPATH_LINES_H

#include "engines/onepath/state.h"

#define ONEPATH_LINE_BEGINS 384U
#define ONEPATH_LINE_BOXES 512U
#define ONEPATH_LINE_LIMITS 8U
#define ONEPATH_LINE_LIMITS_MAX 96U
#define ONEPATH_LINE_LIMITS_FEW 16U
#define ONEPATH_LINE_NUMBERS_FEW 4096U
#define ONEPATH_LINE_FILTERS 16U

/* Return the line of the name that all tests are bounds on; NULL if it has none, or the tests are others. */
tm_family *onepath_lines_find(const tm_engine *engine, const onepath_tests *tests);
/* Return how many limits a line may have: few, while the label of a value is found quickly among few numbers. */
uint32_t onepath_lines_limits_max(const tm_engine *engine);
/* true if the tests may join a line, or begin one. */
bool onepath_lines_take(const tm_engine *engine, const onepath_tests *tests);
/* true if there is a line that the tests may join, and that is not being given up. */
bool onepath_lines_has_open(const tm_engine *engine, const onepath_tests *tests);
/* Count a filter that has become a box, or is about to be removed as one, in the limits of its line. */
void onepath_lines_count(tm_engine *engine, const onepath_tests *tests, uint32_t by);

#endif
