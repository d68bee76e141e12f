/* move.c - moves a record from one bucket to another, behind it or beside it.
 *
 * Law: a record that moves stays behind its bucket outside all branches, so the counts of keys do not change.
 */
#include "engines/onepath/placing/move.h"

#include "engines/onepath/paths/branch_walk.h"
#include "engines/onepath/paths/bucket_keys.h"
#include "engines/onepath/paths/buckets.h"
#include "engines/onepath/paths/entries.h"
#include "engines/onepath/placing/descend.h"
#include "engines/onepath/placing/enter.h"
#include "engines/onepath/records.h"

/* Where a record is before it moves, and its tests. */
typedef struct departure {
    onepath_record before;
    onepath_tests tests;
    onepath_stand stand;
    uint64_t keys[TM_IN_VALUES_MAX];
    uint32_t count;
    uint32_t rest;
    uint32_t row;
} departure;

static void prepare(const tm_engine *engine, uint32_t handle, departure *from) {
    from->before = engine->records[handle];
    from->stand = onepath_stand_of(engine, handle);
    onepath_tests_of_record(engine, handle, &from->tests);
    from->count = onepath_keys_of_record(engine, &from->before, from->keys);
    from->rest = onepath_rest_of(engine, handle);
    from->row = onepath_row_of(engine, &from->before);
}

/* Move a record to from->stand, for which its tests are in order; `around` is a branch that contains both places, or 0.
 * false if out of memory, then the record stays where it was. */
static bool go(tm_engine *engine, uint32_t handle, departure *from, uint32_t around) {
    onepath_record *record = &engine->records[handle];
    from->tests.count -= from->stand.implied;
    onepath_begin_stand(record, &from->stand, from->tests.tests[0]);
    if (!onepath_enter_entry(engine, NULL, &from->stand, handle, &from->tests)) {
        onepath_branches_count(engine, from->stand.branch, around, 0);
        *record = from->before;
        return false;
    }
    onepath_branches_count(engine, from->stand.branch, around, 1);
    onepath_entries_remove(engine, from->keys, from->count, from->rest, from->row);
    if (!(from->rest & ONEPATH_LAST)) {
        tm_arena_give(&engine->bodies, from->rest, onepath_body_class(onepath_body_at(engine, from->rest)->count));
    }
    return true;
}

bool onepath_move_on(tm_engine *engine, uint32_t handle) {
    departure from;
    prepare(engine, handle, &from);
    if (!onepath_descend(engine, &from.tests, &from.stand)) {
        return false;
    }
    return from.stand.branch == from.before.branch || go(engine, handle, &from, from.before.branch);
}

bool onepath_move_beside(tm_engine *engine, uint32_t handle, uint32_t branch) {
    departure from;
    uint32_t around = onepath_key_branch(engine->branches.rows[branch].parent);
    prepare(engine, handle, &from);
    from.stand.branch = branch;
    if (!go(engine, handle, &from, around)) {
        return false;
    }
    onepath_branches_count(engine, from.before.branch, around, UINT32_MAX);
    return true;
}
