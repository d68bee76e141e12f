/* tidy.c - moves that an addition or a removal makes necessary.
 *
 * Law: runs when the change itself is done. A filter that has moved makes others move only to boxes, and those cause no
 * further moves: an addition ends after a bounded number of moves. Out of memory filters stay, which is exact, too.
 */
#include "engines/onepath/placing/tidy.h"

#include "engines/onepath/cost/box_choice.h"
#include "engines/onepath/paths/boxes.h"
#include "engines/onepath/paths/bucket_keys.h"
#include "engines/onepath/paths/buckets.h"
#include "engines/onepath/paths/entries.h"
#include "engines/onepath/placing/gather.h"
#include "engines/onepath/placing/line_moves.h"

static void gather_in_bucket(tm_engine *engine, uint32_t handle, const onepath_tests *tests) {
    const onepath_record *record = &engine->records[handle];
    uint64_t key;
    if (tests->count > 1 && (record->place == ONEPATH_IN_NAMED || onepath_bucket_of_test(record->access) != 0)) {
        onepath_keys_of_record(engine, record, &key);
        uint32_t rows = onepath_bucket_is_full(&engine->buckets, key).entries;
        onepath_boxes_gather(engine, key, tests, onepath_boxes_least(engine, tests, handle, rows));
    }
}

static void work_around(tm_engine *engine, uint32_t handle, const onepath_tests *tests) {
    const onepath_record *record = &engine->records[handle];
    onepath_lines_settle(engine, tests);
    switch (record->place) {
    case ONEPATH_IN_PAIR: {
        uint64_t pair = onepath_pair_key_of(engine, tests);
        uint32_t rows = onepath_bucket_is_full(&engine->buckets, pair).entries;
        onepath_boxes_gather(engine, pair, tests, onepath_boxes_least_of_pair(engine, tests, rows));
        onepath_pair_split_full(engine, pair);
        break;
    }
    case ONEPATH_IN_BOXES:
        onepath_boxes_gather(engine, onepath_bucket_of_test(tests->tests[0]), tests, ONEPATH_BOXES_LEFT);
        onepath_boxes_follow(engine, tests);
        break;
    case ONEPATH_IN_BUCKET:
    case ONEPATH_IN_NAMED:
        gather_in_bucket(engine, handle, tests);
        break;
    default:
        break;
    }
}

/* Do one task; the filter may have moved on since the task was added. */
static void do_work(tm_engine *engine, onepath_task task, uint32_t handle) {
    const onepath_record *record = &engine->records[handle];
    if (task == ONEPATH_SCATTER && record->place == ONEPATH_IN_BOXES) {
        onepath_boxes_scatter(engine, handle);
    }
    if (task == ONEPATH_GATHER && (record->place == ONEPATH_IN_BUCKET || record->place == ONEPATH_IN_NAMED)) {
        onepath_tests tests;
        onepath_tests_of_record(engine, handle, &tests);
        gather_in_bucket(engine, handle, &tests);
    }
}

void onepath_tidy(tm_engine *engine) {
    for (uint32_t i = 0; i < engine->work.count; i++) {
        do_work(engine, engine->work.items[i].task, engine->work.items[i].handle);
    }
    engine->work.count = 0;
}

void onepath_tidy_around(tm_engine *engine, uint32_t handle, const onepath_tests *tests) {
    work_around(engine, handle, tests);
    onepath_tidy(engine);
}
