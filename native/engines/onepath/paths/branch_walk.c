/* branch_walk.c - from a branch up to its bucket outside all branches.
 *
 * Law: the tests that a branch implies are those of the buckets it is behind, by value. A branch, and the fork that
 * leads to it, are removed with the last filter behind it.
 */
#include "engines/onepath/paths/branch_walk.h"

#include "engines/onepath/paths/buckets.h"
#include "engines/onepath/paths/guards.h"

uint32_t onepath_branch_depth(const tm_engine *engine, uint32_t branch) {
    uint32_t depth = 0;
    for (; branch != 0; branch = onepath_key_branch(engine->branches.rows[branch].parent)) {
        depth++;
    }
    return depth;
}

bool onepath_may_go_on(const tm_engine *engine, const onepath_stand *stand) {
    return onepath_branch_depth(engine, stand->branch) < ONEPATH_DEPTH_MAX;
}

void onepath_branches_ask(const tm_engine *engine, uint32_t branch) {
    while (branch != 0) {
        uint64_t parent = engine->branches.rows[branch].parent;
        onepath_buckets_ask(&engine->buckets, &parent, 1);
        branch = onepath_key_branch(parent);
    }
}

void onepath_branches_count(tm_engine *engine, uint32_t branch, uint32_t until, uint32_t by) {
    while (branch != until) {
        onepath_branch *row = &engine->branches.rows[branch];
        uint64_t parent = row->parent;
        row->filters += by;
        if (by != 0) {
            onepath_slot_node(&engine->buckets, onepath_bucket_is_full(&engine->buckets, parent).opened)->filters += by;
        }
        if (row->filters == 0) {
            onepath_guards_release(engine, row);
            onepath_branches_give(&engine->branches, branch);
            onepath_buckets_remove_fork(&engine->buckets, parent, branch);
        }
        branch = onepath_key_branch(parent);
    }
}

/* Return the test that all filters in the bucket of this key imply; ONEPATH_TRUE if there is none. */
static onepath_test test_of_key(const tm_engine *engine, uint64_t key) {
    static const uint8_t OPS[] = {
        [ONEPATH_BY_BOOLEAN] = ONEPATH_BOOLEAN_EQ, [ONEPATH_BY_NUMBER] = ONEPATH_NUMBER_EQ,
        [ONEPATH_BY_STRING] = ONEPATH_STRING_EQ,   [ONEPATH_BY_WIDE] = ONEPATH_TRUE,
        [ONEPATH_BY_PATTERN] = ONEPATH_PATTERN,    [ONEPATH_BY_PAIR] = ONEPATH_TRUE,
        [ONEPATH_BY_NAME] = ONEPATH_TRUE,
    };
    uint32_t branch = onepath_key_branch(key);
    uint32_t name = (uint32_t)(key >> 32) & 0xffffff;
    name = branch == 0 ? name : onepath_fork_name(engine->branches.rows[branch].what);
    return onepath_test_of(name, OPS[onepath_key_tag(key)], (uint32_t)key);
}

void onepath_branch_tests(const tm_engine *engine, uint32_t branch, onepath_tests *out) {
    while (branch != 0) {
        uint64_t parent = engine->branches.rows[branch].parent;
        onepath_test test = test_of_key(engine, parent);
        if (onepath_test_op(test) != ONEPATH_TRUE) {
            out->tests[out->count++] = test;
        }
        branch = onepath_key_branch(parent);
    }
}

onepath_test onepath_branch_root(const tm_engine *engine, uint32_t branch) {
    uint64_t parent = 0;
    for (; branch != 0; branch = onepath_key_branch(parent)) {
        parent = engine->branches.rows[branch].parent;
    }
    return test_of_key(engine, parent);
}
