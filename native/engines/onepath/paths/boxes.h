/* boxes.h - filters of ranges on several names, and their equalities, in trees of boxes.
 *
 * Law: a box contains every message that its filter matches; where it contains no other, its row has ONEPATH_LAST, and
 * no test is evaluated. An end of ordered strings is the id of a constant, compared by its label; a string that is
 * compared for equality alone is the id of its constant. The body of a filter in a box holds all of its tests, the
 * access test, too, and after them its leaf.
 *
 * Filters of one family become boxes where the entries that a message is expected to read cost more than a search in a
 * tree (cost/box_choice.c), and at the latest when ONEPATH_BOXES_MIN of them are found under a pair of names, or
 * ONEPATH_BUCKET_FULL entries, of all families, under a value. From then on every filter of the family that is added is
 * a box, unless too few have its value for a search to pay. When fewer than ONEPATH_BOXES_LEFT are left, they go back.
 *
 * A test that no box can express (a negation, `!=`, a pattern) and that many filters have may be the *guard* of a
 * family: all its filters have it, a match evaluates it once, and where it fails the family is skipped. Filters without
 * a value to be found by are added to a guarded family at once, also those of ranges on a single name. Families whose
 * guards fail together are in a row (guard_rows.c), of which a match reads those that hold and one that fails.
 */
#ifndef TM_ONEPATH_BOXES_H
#define TM_ONEPATH_BOXES_H

#include "engines/onepath/state.h"

#define ONEPATH_BOXES_MIN 64U
#define ONEPATH_BOXES_FEW 8U
#define ONEPATH_BOXES_LEFT 4U
#define ONEPATH_BUCKET_FULL 256U

#define ONEPATH_BY_CONSTANT ONEPATH_ANY /* kind of a name in a family: a string that is compared for equality alone */

/* The names of a family, sorted: `name << 2 | kind`, where a string that is compared for equality alone has a kind of
 * its own. */
typedef struct onepath_family_names {
    uint32_t names[TM_BOX_NAMES_MAX];
    uint32_t count;
    uint32_t bounds;    /* tests that are not equalities */
    onepath_test guard; /* ONEPATH_NO_TEST: none */
} onepath_family_names;

/* ---- families ---- */

/* Return the name of the test as a name of a family; false if a box cannot express the test. */
bool onepath_family_name_of(const tm_engine *engine, onepath_test test, uint32_t *name);
/* Return the names of all ranges, and of equalities while names are few: equalities that many filters share are not
 * selective, and others have a bucket. Chooses no guard. */
void onepath_family_names_of(const tm_engine *engine, const onepath_tests *tests, onepath_family_names *out);
/* true if there may be a family of these names. Equalities alone are found faster by a bucket. */
bool onepath_family_is_one(const onepath_family_names *family);
bool onepath_family_same_names(const onepath_family_names *a, const onepath_family_names *b);
/* Return the family, borrowed from the engine; NULL if there is none. */
tm_family *onepath_family_find(const tm_engine *engine, const onepath_family_names *family);

/* ---- boxes ---- */

void onepath_boxes_init(tm_engine *engine);
/* Make a filter a box of the family of these names and their guard; false if out of memory. */
bool onepath_boxes_enter(tm_engine *engine, uint32_t handle, const onepath_tests *tests,
                         const onepath_family_names *family);
/* Remove a box and its body. Returns a filter of its family if that should go back to buckets, or ONEPATH_NONE. */
uint32_t onepath_boxes_leave(tm_engine *engine, uint32_t handle);
/* true if the family has no guard and so few boxes that they should go back to buckets. */
bool onepath_family_is_small(const tm_family *family);
/* Return the family of a filter that is a box. */
tm_family *onepath_family_of(const tm_engine *engine, uint32_t handle);
/* Copy all tests of a filter that is a box. */
void onepath_boxes_tests(const tm_engine *engine, uint32_t handle, onepath_tests *out);
/* Prefetch the box of a filter. */
void onepath_boxes_ask(const tm_engine *engine, uint32_t handle, const onepath_tests *tests);
/* Prefetch the bounds of the leaf; its node has arrived by then. */
void onepath_boxes_ask_bounds(const tm_engine *engine, uint32_t handle);
int onepath_boxes_validate(const tm_engine *engine, const char **reason);

#endif
