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

/* The names of a family, sorted: `name << 2 | kind`, where a string that is compared as a whole has a kind of its own.
 */
typedef struct tamis_family_names {
    uint32_t names[TM_BOX_NAMES_MAX];
    uint32_t count;
    uint32_t bounds;  /* tests that are no equalities */
    tamis_test guard; /* TAMIS_NO_TEST: none */
} tamis_family_names;

/* ---- families ---- */

/* What the test says something of, as a name of a family; false: a box cannot say it. */
bool tamis_family_name_of(const tm_engine *engine, tamis_test test, uint32_t *name);
/* What the tests say in all their ranges, and in equalities while names are few: equalities that many filters share
 * tell nothing, and others have a bucket. No guard is chosen yet. */
void tamis_family_names_of(const tm_engine *engine, const tamis_tests *tests, tamis_family_names *out);
/* May there be a family of these names? Equalities alone are better looked up. */
bool tamis_family_is_one(const tamis_family_names *family);
bool tamis_family_same_names(const tamis_family_names *a, const tamis_family_names *b);
/* The family, borrowed from the engine; NULL: there is none. */
tm_family *tamis_family_find(const tm_engine *engine, const tamis_family_names *family);

/* ---- boxes ---- */

void tamis_boxes_init(tm_engine *engine);
/* A filter becomes a box of the family that these names and their guard say; false: no memory. */
bool tamis_boxes_enter(tm_engine *engine, uint32_t handle, const tamis_tests *tests, const tamis_family_names *family);
void tamis_boxes_leave(tm_engine *engine, uint32_t handle); /* its body, too */
void tamis_boxes_tests(const tm_engine *engine, uint32_t handle, tamis_tests *out);
/* Ask for the memory that the box of a filter stands in. */
void tamis_boxes_ask(const tm_engine *engine, uint32_t handle, const tamis_tests *tests);
/* And when that is there, for the bounds of the leaf. */
void tamis_boxes_ask_bounds(const tm_engine *engine, uint32_t handle);
int tamis_boxes_validate(const tm_engine *engine, const char **reason);

#endif
