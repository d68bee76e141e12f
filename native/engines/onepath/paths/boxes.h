/* boxes.h - filters of ranges on several names, and their equalities, in trees of boxes.
 *
 * Law: a box holds wherever its filter does; where it says no more than the filter, its row has TAMIS_LAST, and nothing
 * else is asked. An end of strings in order is the id of a constant, compared by its label; a string that is compared
 * as a whole is the id of its constant. The body of a filter in a box holds all of its tests, the access test too, and
 * behind them its leaf.
 *
 * Filters of one family stand in their bucket until TAMIS_BOXES_MIN of them are found under a pair of names, or
 * TAMIS_BUCKET_FULL under a value. From then on they are boxes, and so is every one that comes, unless it finds less
 * than TAMIS_BOXES_MIN under a value of which not as many as fill a bucket stand elsewhere; when fewer than
 * TAMIS_BOXES_LEFT are left, they go back.
 *
 * A test that no box can say (a negation, `!=`, a pattern) and that many filters make may be the *guard* of a family:
 * all its filters make it, a message makes it once, and where it fails the family is passed by. Filters that have no
 * value to be found by go to a guarded family from the first on, also those of ranges on a single name. Families whose
 * guards fail together stand in a row (guard_rows.c), of which a message looks at those that hold and one that fails.
 */
#ifndef TM_ONEPATH_BOXES_H
#define TM_ONEPATH_BOXES_H

#include "engines/onepath/state.h"

#define TAMIS_BOXES_MIN 64U
#define TAMIS_BOXES_LEFT 32U
#define TAMIS_BUCKET_FULL 256U

#define TAMIS_BY_CONSTANT TAMIS_ANY /* as the kind of a name of a family: a string that is compared as a whole */

void tamis_boxes_init(tm_engine *engine);

/* ---- for choose.c ---- */

/* Is there a family for the ranges of these tests, or a guard for one? */
bool tamis_boxes_take(const tm_engine *engine, const tamis_tests *tests);
/* Could there be one? */
bool tamis_boxes_may_take(const tm_engine *engine, const tamis_tests *tests);
/* The same as the first for tests of which this one has a bucket, and others where the filter would stand by it that
 * are worth being spared. */
bool tamis_boxes_relieve(const tm_engine *engine, const tamis_tests *tests, tamis_test access);

/* ---- for place.c ---- */

bool tamis_boxes_enter(tm_engine *engine, uint32_t handle, const tamis_tests *tests); /* false: no memory */
void tamis_boxes_leave(tm_engine *engine, uint32_t handle);                           /* its body, too */
void tamis_boxes_tests(const tm_engine *engine, uint32_t handle, tamis_tests *out);
/* Ask for the memory that the box of a filter stands in. */
void tamis_boxes_ask(const tm_engine *engine, uint32_t handle, const tamis_tests *tests);
/* And when that is there, for the bounds of the leaf. */
void tamis_boxes_ask_bounds(const tm_engine *engine, uint32_t handle);
/* A filter has come into this bucket: if at least so many in it are of its family, they become boxes. Without memory
 * some stay, which is as right. */
void tamis_boxes_gather(tm_engine *engine, uint64_t bucket, const tamis_tests *tests, uint32_t least);
/* A filter has become a box: if it is behind a guard, a few of those of its names follow that came before enough others
 * made the tests that they could be guarded by. Without memory they stay, which is as right. */
void tamis_boxes_follow(tm_engine *engine, const tamis_tests *tests);
/* A filter has left: if it was a box and few of its family are left, they go back to buckets. */
void tamis_boxes_scatter(tm_engine *engine);

int tamis_boxes_validate(const tm_engine *engine, const char **reason);

#endif
