/* branch_walk.c - from a branch up to the bucket that all this is behind.
 *
 * Law: the tests that a branch implies are those of the buckets it is behind, by value. A branch ends, and the fork
 * that leads to it, with the last filter behind it.
 */
#include "engines/onepath/paths/branch_walk.h"

#include "engines/onepath/paths/buckets.h"
#include "engines/onepath/paths/guards.h"

uint32_t tamis_branch_depth(const tm_engine *engine, uint32_t branch) {
    uint32_t depth = 0;
    for (; branch != 0; branch = tamis_key_branch(engine->branches.rows[branch].parent)) {
        depth++;
    }
    return depth;
}

bool tamis_may_go_on(const tm_engine *engine, const tamis_stand *stand) {
    return tamis_branch_depth(engine, stand->branch) < TAMIS_DEPTH_MAX;
}

void tamis_branches_ask(const tm_engine *engine, uint32_t branch) {
    while (branch != 0) {
        uint64_t parent = engine->branches.rows[branch].parent;
        tamis_buckets_ask(&engine->buckets, &parent, 1);
        branch = tamis_key_branch(parent);
    }
}

void tamis_branches_count(tm_engine *engine, uint32_t branch, uint32_t until, uint32_t by) {
    while (branch != until) {
        tamis_branch *row = &engine->branches.rows[branch];
        uint64_t parent = row->parent;
        row->filters += by;
        if (by != 0) {
            tamis_slot_node(&engine->buckets, tamis_buckets_crowd(&engine->buckets, parent).opened)->filters += by;
        }
        if (row->filters == 0) {
            tamis_guards_release(engine, row);
            tamis_branches_give(&engine->branches, branch);
            tamis_buckets_remove_fork(&engine->buckets, parent, branch);
        }
        branch = tamis_key_branch(parent);
    }
}

/* The test that all in the bucket of this key satisfy by being there; TAMIS_TRUE: there is none. */
static tamis_test test_of_key(const tm_engine *engine, uint64_t key) {
    static const uint8_t OPS[] = {
        [TAMIS_BY_BOOLEAN] = TAMIS_BOOLEAN_EQ, [TAMIS_BY_NUMBER] = TAMIS_NUMBER_EQ, [TAMIS_BY_STRING] = TAMIS_STRING_EQ,
        [TAMIS_BY_WIDE] = TAMIS_TRUE,          [TAMIS_BY_PATTERN] = TAMIS_PATTERN,  [TAMIS_BY_PAIR] = TAMIS_TRUE,
        [TAMIS_BY_NAME] = TAMIS_TRUE,
    };
    uint32_t branch = tamis_key_branch(key);
    uint32_t name = (uint32_t)(key >> 32) & 0xffffff;
    name = branch == 0 ? name : tamis_fork_name(engine->branches.rows[branch].what);
    return tamis_test_of(name, OPS[tamis_key_tag(key)], (uint32_t)key);
}

void tamis_branch_tests(const tm_engine *engine, uint32_t branch, tamis_tests *out) {
    while (branch != 0) {
        uint64_t parent = engine->branches.rows[branch].parent;
        tamis_test test = test_of_key(engine, parent);
        if (tamis_test_op(test) != TAMIS_TRUE) {
            out->tests[out->count++] = test;
        }
        branch = tamis_key_branch(parent);
    }
}

tamis_test tamis_branch_root(const tm_engine *engine, uint32_t branch) {
    uint64_t parent = 0;
    for (; branch != 0; branch = tamis_key_branch(parent)) {
        parent = engine->branches.rows[branch].parent;
    }
    return test_of_key(engine, parent);
}
