/* boxes.h - filters of ranges on several names, and their equalities, in trees of boxes.
 *
 * Law: a box holds wherever its filter does; where it says no more than the filter, its row has ONEPATH_LAST, and
 * nothing else is asked. An end of strings in order is the id of a constant, compared by its label; a string that is
 * compared as a whole is the id of its constant. The body of a filter in a box holds all of its tests, the access test
 * too, and behind them its leaf.
 *
 * Filters of one family stand in their bucket until ONEPATH_BOXES_MIN of them are found under a pair of names, or
 * ONEPATH_BUCKET_FULL under a value. From then on they are boxes, and so is every one that comes, unless it finds less
 * than ONEPATH_BOXES_MIN under a value of which not as many as fill a bucket stand elsewhere; when fewer than
 * ONEPATH_BOXES_LEFT are left, they go back.
 *
 * A test that no box can say (a negation, `!=`, a pattern) and that many filters make may be the *guard* of a family:
 * all its filters make it, a message makes it once, and where it fails the family is passed by. Filters that have no
 * value to be found by go to a guarded family from the first on, also those of ranges on a single name. Families whose
 * guards fail together stand in a row (guard_rows.c), of which a message looks at those that hold and one that fails.
 */
#ifndef TM_ONEPATH_BOXES_H
#define TM_ONEPATH_BOXES_H

#include "engines/onepath/state.h"

#define ONEPATH_BOXES_MIN 64U
#define ONEPATH_BOXES_LEFT 32U
#define ONEPATH_BUCKET_FULL 256U

#define ONEPATH_BY_CONSTANT ONEPATH_ANY /* as the kind of a name of a family: a string that is compared as a whole */

/* The names of a family, sorted: `name << 2 | kind`, where a string that is compared as a whole has a kind of its own.
 */
typedef struct onepath_family_names {
    uint32_t names[TM_BOX_NAMES_MAX];
    uint32_t count;
    uint32_t bounds;    /* tests that are no equalities */
    onepath_test guard; /* ONEPATH_NO_TEST: none */
} onepath_family_names;

/* ---- families ---- */

/* What the test says something of, as a name of a family; false: a box cannot say it. */
bool onepath_family_name_of(const tm_engine *engine, onepath_test test, uint32_t *name);
/* What the tests say in all their ranges, and in equalities while names are few: equalities that many filters share
 * tell nothing, and others have a bucket. No guard is chosen yet. */
void onepath_family_names_of(const tm_engine *engine, const onepath_tests *tests, onepath_family_names *out);
/* May there be a family of these names? Equalities alone are better looked up. */
bool onepath_family_is_one(const onepath_family_names *family);
bool onepath_family_same_names(const onepath_family_names *a, const onepath_family_names *b);
/* The family, borrowed from the engine; NULL: there is none. */
tm_family *onepath_family_find(const tm_engine *engine, const onepath_family_names *family);

/* ---- boxes ---- */

void onepath_boxes_init(tm_engine *engine);
/* A filter becomes a box of the family that these names and their guard say; false: no memory. */
bool onepath_boxes_enter(tm_engine *engine, uint32_t handle, const onepath_tests *tests,
                         const onepath_family_names *family);
/* A box is no more, nor is its body. Returns a filter of its family if that should go back to buckets, or ONEPATH_NONE.
 */
uint32_t onepath_boxes_leave(tm_engine *engine, uint32_t handle);
/* Is it a family without a guard of which so few are left that they should go back to buckets? */
bool onepath_family_is_small(const tm_family *family);
/* The family that a filter which is a box is of. */
tm_family *onepath_family_of(const tm_engine *engine, uint32_t handle);
void onepath_boxes_tests(const tm_engine *engine, uint32_t handle, onepath_tests *out);
/* Ask for the memory that the box of a filter stands in. */
void onepath_boxes_ask(const tm_engine *engine, uint32_t handle, const onepath_tests *tests);
/* And when that is there, for the bounds of the leaf. */
void onepath_boxes_ask_bounds(const tm_engine *engine, uint32_t handle);
int onepath_boxes_validate(const tm_engine *engine, const char **reason);

#endif
