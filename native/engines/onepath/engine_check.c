/* engine_check.c - checks that the table is as state.h describes it.
 *
 * Law: each part validates itself; this file checks what several parts record about one filter. Changes nothing.
 */
#include "engines/onepath/engine_check.h"

#include "engines/onepath/covering/cover.h"
#include "engines/onepath/paths/boxes.h"
#include "engines/onepath/paths/buckets.h"
#include "engines/onepath/paths/entries.h"
#include "engines/onepath/paths/entries_check.h"
#include "engines/onepath/placing/full_bucket.h"
#include "engines/onepath/records.h"
#include "engines/onepath/values/patterns_validate.h"

/* Validate the ordered parts of a key and of its wide part. */
static int validate_ranges(const tm_engine *engine, const onepath_key *key, const onepath_strings *order,
                           const char **reason) {
    int result = onepath_cells_validate(&key->cells, order, reason);
    if (result == TM_OK && key->at_most != NULL) {
        result = onepath_run_validate(key->at_most, order, reason);
    }
    if (result == TM_OK && key->at_least != NULL) {
        result = onepath_run_validate(key->at_least, order, reason);
    }
    if (result == TM_OK && key->intervals != NULL) {
        result = onepath_run_validate(key->intervals, order, reason);
    }
    return result == TM_OK && key->wide != NULL ? validate_ranges(engine, key->wide, &engine->numbers, reason) : result;
}

static int validate_keys(const tm_engine *engine, const char **reason) {
    int result = TM_OK;
    for (uint32_t name = 0; name < engine->names.record_count && result == TM_OK; name++) {
        for (unsigned kind = 0; kind <= ONEPATH_ANY && result == TM_OK; kind++) {
            const onepath_key *key = engine->names.records[name].keys[kind];
            if (key != NULL && key->pins == 0) {
                *reason = "a key has no use";
                return TM_MISUSED;
            }
            const onepath_strings *order = kind == ONEPATH_STRING ? &engine->strings : NULL;
            result = key == NULL ? TM_OK : validate_ranges(engine, key, order, reason);
        }
    }
    return result;
}

/* true if the numbers without a code of a filter have labels exactly where onepath_needs_order requires them. */
static bool is_order_right(const tm_engine *engine, uint32_t handle) {
    const onepath_record *record = &engine->records[handle];
    onepath_tests tests;
    onepath_tests_of_record(engine, handle, &tests);
    bool right = record->in_order == onepath_needs_order(engine, onepath_interface_of(engine, handle), record->place);
    for (uint32_t i = 0; i < tests.count && record->in_order; i++) {
        onepath_test test = tests.tests[i];
        right &= !onepath_op_is_wide(onepath_test_op(test)) ||
                 engine->numbers.records[onepath_test_operand(test)].ordered > 0;
    }
    return right;
}

static uint32_t count_string_tests(const tm_engine *engine, uint32_t handle) {
    onepath_tests tests;
    uint32_t count = 0;
    onepath_tests_of_record(engine, handle, &tests);
    for (uint32_t i = 0; i < tests.count; i++) {
        count += onepath_op_takes_string(onepath_test_op(tests.tests[i]));
    }
    return count;
}

static int validate_records(const tm_engine *engine, const char **reason) {
    const tm_holders *holders = engine->holders;
    uint64_t covered = 0;
    uint64_t listed = 0;
    uint64_t active = 0;
    uint64_t string_tests = 0;
    for (uint32_t handle = 0; handle < holders->count; handle++) {
        const onepath_record *record = &engine->records[handle];
        if ((record->place == ONEPATH_FREE) != (tm_holders_state(holders, handle) == TM_HOLDER_FREE)) {
            *reason = "a filter is missing, or has no handle";
            return TM_MISUSED;
        }
        if (record->place == ONEPATH_FREE) {
            continue;
        }
        if (!is_order_right(engine, handle)) {
            *reason = "a filter has numbers without labels, or labels that it does not need";
            return TM_MISUSED;
        }
        string_tests += count_string_tests(engine, handle);
        uint32_t interface = onepath_interface_of(engine, handle);
        listed += onepath_is_active(record) && !onepath_uses_cells(engine, interface);
        active += onepath_is_active(record) && !onepath_is_tombstone(engine, handle);
        if (record->place == ONEPATH_COVERED) {
            covered++;
            uint32_t coverer = onepath_covering_at(&engine->coverings, handle)->coverer;
            if (engine->records[coverer].place == ONEPATH_FREE || onepath_interface_of(engine, coverer) != interface) {
                *reason = "a filter is covered by nothing, or by one of another interface";
                return TM_MISUSED;
            }
        }
        for (uint32_t below = onepath_covers_of(engine, handle); below != ONEPATH_NONE;
             below = onepath_covering_at(&engine->coverings, below)->next) {
            if (onepath_covering_at(&engine->coverings, below)->coverer != handle ||
                engine->records[below].place != ONEPATH_COVERED) {
                *reason = "a list of covered filters is broken";
                return TM_MISUSED;
            }
        }
    }
    if (active != onepath_count_active(engine) || covered != engine->covered || listed != engine->listed ||
        string_tests != engine->string_tests) {
        *reason = "a count of filters or of their tests is wrong";
        return TM_MISUSED;
    }
    return TM_OK;
}

static int validate_scratch(const tm_engine *engine, const char **reason) {
    for (uint32_t name = 0; name < engine->state_capacity; name++) {
        if (engine->state[name] != 0) {
            *reason = "a match left its state behind";
            return TM_MISUSED;
        }
    }
    return TM_OK;
}

int onepath_validate(const tm_engine *engine, const char **reason) {
    int result = onepath_names_validate(&engine->names, reason);
    result = result != TM_OK ? result : onepath_strings_validate(&engine->strings, reason);
    result = result != TM_OK ? result : onepath_strings_validate(&engine->numbers, reason);
    result = result != TM_OK ? result : onepath_patterns_validate(&engine->patterns, reason);
    result = result != TM_OK ? result : onepath_buckets_validate(&engine->buckets, reason);
    result = result != TM_OK ? result : onepath_entries_validate(engine, reason);
    result = result != TM_OK ? result : validate_keys(engine, reason);
    result = result != TM_OK ? result : validate_records(engine, reason);
    result = result != TM_OK ? result : onepath_full_buckets_validate(engine, reason);
    result = result != TM_OK ? result : onepath_boxes_validate(engine, reason);
    return result != TM_OK ? result : validate_scratch(engine, reason);
}
