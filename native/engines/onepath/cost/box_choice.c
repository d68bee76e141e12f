/* box_choice.c - decides whether a filter is better a box, and of which family.
 *
 * Law: as in boxes.h; nothing changes here.
 */
#include "engines/onepath/cost/box_choice.h"

#include "engines/onepath/cost/selectivity.h"
#include "engines/onepath/cost/similar.h"
#include "engines/onepath/paths/branch_walk.h"
#include "engines/onepath/paths/lines.h"
#include "engines/onepath/records.h"
#include "engines/onepath/values/compile.h"

#define STEPS_OF_ROW 2.0     /* of an entry whose filter is read */
#define STEPS_OF_PAIR 2.0    /* of an entry under a pair of names, which decides two tests */
#define STEPS_OF_REST 4.0    /* of its filter's further tests, which are in a body */
#define STEPS_OF_TREE 25.0   /* of a search in the tree of a small family */
#define ROWS_OF_TEXT 16U     /* entries of one string that cost more than a search in such a tree */
#define ROWS_OF_FAMILIES 32U /* entries of a shared value from which on few of a family cost more than its tree */
#define SHARED 0.15          /* share of filters that have a shared value */
#define ROWS_A_LEVEL 4U      /* the same for each doubling of the family */
#define FAMILY_SMALL 32U     /* filters of a tree with one leaf */
#define GUARDED_MIN 8U       /* filters that may share the guard of a family */
#define GUARDED_FAMILIES 64U /* guarded families from which on one more filter is required */

bool onepath_boxes_may_take(const tm_engine *engine, const onepath_tests *tests) {
    onepath_family_names family;
    onepath_family_names_of(engine, tests, &family);
    return onepath_family_is_one(&family);
}

void onepath_family_choose_guard(const tm_engine *engine, const onepath_tests *tests, onepath_family_names *family) {
    uint32_t most = GUARDED_MIN + engine->families.guarded / GUARDED_FAMILIES;
    for (uint32_t i = 0; i < tests->count; i++) {
        if (family->bounds == 0 || onepath_has_bucket(engine, tests->tests[i])) {
            return;
        }
    }
    for (uint32_t i = 0; i < tests->count; i++) {
        uint32_t name;
        uint32_t users =
            onepath_family_name_of(engine, tests->tests[i], &name) ? 0 : onepath_users_of(engine, tests->tests[i]);
        if (users >= most) {
            most = users;
            family->guard = tests->tests[i];
        }
    }
}

void onepath_family_choose(const tm_engine *engine, const onepath_tests *tests, onepath_family_names *out) {
    onepath_family_names_of(engine, tests, out);
    onepath_family_choose_guard(engine, tests, out);
}

bool onepath_boxes_take(const tm_engine *engine, const onepath_tests *tests) {
    if (engine->scatters) {
        return false;
    }
    onepath_family_names family;
    onepath_family_choose(engine, tests, &family);
    return family.guard != ONEPATH_NO_TEST || onepath_lines_take(engine, tests) ||
           (onepath_family_is_one(&family) && onepath_family_find(engine, &family) != NULL);
}

/* ---- beside a bucket ---- */

/* Return the share of the filters with the name of a test that have the test; 1 if it is not known. */
static double share_of(const tm_engine *engine, onepath_test test) {
    uint32_t of_name = engine->names.records[onepath_test_name(test)].references;
    uint32_t users = onepath_users_of(engine, test);
    return users == 0 || of_name == 0 ? 1 : (double)users / of_name;
}

/* true if many filters have the access test of a record and those that its branch implies. */
static bool is_shared(const tm_engine *engine, const onepath_record *record) {
    onepath_tests implied = {.count = 0};
    onepath_branch_tests(engine, onepath_branch_of(record), &implied);
    double share = share_of(engine, record->access);
    for (uint32_t i = 0; i < implied.count; i++) {
        share *= share_of(engine, implied.tests[i]);
    }
    return share >= SHARED;
}

/* Return how many entries under `access` cost more than a search in the tree of the family of these tests. Filters with
 * an equal number in the tree are not counted, so those that are added later cannot follow them at once: a bucket of a
 * number has only few entries. */
static uint32_t rows_worth_a_tree(const tm_engine *engine, const onepath_tests *tests, onepath_test access) {
    if (onepath_test_op(access) < ONEPATH_STRING_EQ) {
        return ONEPATH_BOXES_FEW;
    }
    onepath_family_names names;
    onepath_family_choose(engine, tests, &names);
    const tm_family *family = onepath_family_find(engine, &names);
    uint32_t levels = family == NULL || family->tree.count < 2 * FAMILY_SMALL
                          ? 0
                          : 31 - (uint32_t)__builtin_clz(family->tree.count / FAMILY_SMALL);
    return ROWS_OF_TEXT + ROWS_A_LEVEL * levels;
}

/* Return how many rows a message is expected to read in the buckets of one fork, that of this filter with `rows` among
 * them. Most filters are added to the fullest of these, so a message reads about as many as there are in this one. */
static double rows_behind_fork(const tm_engine *engine, uint32_t handle, uint32_t rows) {
    onepath_test access = engine->records[handle].access;
    onepath_tests implied = {.count = 0};
    onepath_branch_tests(engine, onepath_branch_of(&engine->records[handle]), &implied);
    double read =
        rows * onepath_selectivity_of_name(engine, onepath_test_name(access), onepath_kind_of(engine, access));
    for (uint32_t i = 0; i < implied.count && read * STEPS_OF_ROW >= STEPS_OF_TREE; i++) {
        bool opened;
        double selectivity = onepath_selectivity_of_bucket(engine, implied.tests[i], &opened);
        read *= selectivity < 1 ? selectivity : 1;
    }
    return read;
}

uint32_t onepath_boxes_least(const tm_engine *engine, const onepath_tests *tests, uint32_t handle, uint32_t rows) {
    const onepath_record *record = &engine->records[handle];
    double read = onepath_branch_of(record) == 0 ? onepath_rows_expected(engine, record->access)
                                                 : rows_behind_fork(engine, handle, rows);
    bool is_costly = rows >= ONEPATH_BUCKET_FULL || read * STEPS_OF_ROW >= STEPS_OF_TREE;
    if (!is_costly) {
        return ONEPATH_BUCKET_FULL;
    }
    return rows >= ROWS_OF_FAMILIES && is_shared(engine, record) ? ONEPATH_BOXES_FEW
                                                                 : rows_worth_a_tree(engine, tests, record->access);
}

uint32_t onepath_boxes_least_of_pair(const tm_engine *engine, const onepath_tests *tests, uint32_t rows) {
    double reached = 1;
    for (uint32_t i = 0; i < 2; i++) {
        onepath_test test = tests->tests[i];
        reached *= onepath_selectivity_of_name(engine, onepath_test_name(test), onepath_kind_of(engine, test));
    }
    bool has_rest = tests->count > 2;
    bool is_costly = reached * rows * (STEPS_OF_PAIR + (has_rest ? STEPS_OF_REST : 0)) >= STEPS_OF_TREE;
    return !is_costly ? ONEPATH_BOXES_MIN : has_rest ? ONEPATH_BOXES_LEFT + 1 : ONEPATH_BOXES_FEW;
}

/* true if `many` filters with the test are elsewhere than under it. They have left its bucket, which need not fill up
 * again for those that are added. */
static bool is_split(const tm_engine *engine, onepath_test access, uint64_t bucket, uint32_t many) {
    onepath_full_bucket full_bucket = onepath_bucket_is_full(&engine->buckets, bucket);
    uint32_t here =
        full_bucket.entries + full_bucket.singles + onepath_filters_behind(&engine->buckets, full_bucket.opened);
    return onepath_users_of(engine, access) >= here + many;
}

bool onepath_boxes_split_full(const tm_engine *engine, const onepath_tests *tests, onepath_test access) {
    uint64_t bucket = onepath_bucket_of_test(access);
    if (bucket == 0 || engine->families.boxes == 0 || !onepath_boxes_take(engine, tests)) {
        return false;
    }
    uint32_t rows = rows_worth_a_tree(engine, tests, access);
    if (is_split(engine, access, bucket, rows)) {
        return true;
    }
    bucket = onepath_similar_end(engine, bucket, tests, 0, &(double){1});
    const onepath_slot *slot = onepath_buckets_find(&engine->buckets, bucket);
    return slot != NULL && slot->entry_count >= rows;
}
