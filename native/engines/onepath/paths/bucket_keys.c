/* bucket_keys.c - the keys of a filter's buckets.
 *
 * Law: a test that has a bucket has one key, or one for each value of a stored constraint; behind a branch the branch
 * is in the key where the name was.
 */
#include "engines/onepath/paths/bucket_keys.h"

#include <string.h>

#include "engines/onepath/paths/buckets.h"
#include "engines/onepath/records.h"

uint32_t onepath_wide_operand(const tm_hash_key *key, bool is_real, int64_t integer, double real) {
    uint64_t bits = (uint64_t)integer;
    if (is_real) {
        memcpy(&bits, &real, sizeof bits);
    }
    return (uint32_t)tm_hash_words(bits, is_real, 0, key);
}

/* Return the key of a value of a stored constraint. */
static uint64_t key_of_value(const tm_engine *engine, uint32_t name, const tm_value *value) {
    switch (value->kind) {
    case TM_KIND_BOOLEAN:
        return onepath_bucket_key(ONEPATH_BY_BOOLEAN, name, (uint32_t)value->integer);
    case TM_KIND_STRING:
        return onepath_bucket_key(ONEPATH_BY_STRING, name, (uint32_t)value->integer);
    case TM_KIND_INTEGER:
        if (onepath_has_code(value->integer)) {
            return onepath_bucket_key(ONEPATH_BY_NUMBER, name, (uint32_t)onepath_code_of_integer(value->integer));
        }
        return onepath_bucket_key(ONEPATH_BY_WIDE, name,
                                  onepath_wide_operand(&engine->buckets.key, false, value->integer, 0));
    default:
        return onepath_bucket_key(ONEPATH_BY_WIDE, name,
                                  onepath_wide_operand(&engine->buckets.key, true, 0, value->real));
    }
}

uint32_t onepath_keys_by_value(const tm_engine *engine, onepath_test test, uint64_t *keys) {
    uint32_t name = onepath_test_name(test);
    uint32_t operand = onepath_test_operand(test);
    switch (onepath_test_op(test)) {
    case ONEPATH_BOOLEAN_EQ:
        keys[0] = onepath_bucket_key(ONEPATH_BY_BOOLEAN, name, operand);
        return 1;
    case ONEPATH_NUMBER_EQ:
        keys[0] = onepath_bucket_key(ONEPATH_BY_NUMBER, name, operand);
        return 1;
    case ONEPATH_STRING_EQ:
        keys[0] = onepath_bucket_key(ONEPATH_BY_STRING, name, operand);
        return 1;
    case ONEPATH_PATTERN:
        keys[0] = onepath_bucket_key(ONEPATH_BY_PATTERN, name, operand);
        return 1;
    default:
        break;
    }
    const tm_constraint *constraint = &engine->complexes[operand].constraint;
    uint32_t count = 0;
    for (uint32_t i = 0; i < constraint->operand_count; i++) {
        uint64_t key = key_of_value(engine, name, &constraint->operands[i]);
        uint32_t seen = 0; /* two wide numbers may share a hash */
        while (seen < count && keys[seen] != key) {
            seen++;
        }
        keys[seen] = key;
        count += seen == count;
    }
    return count;
}

uint32_t onepath_bucket_keys(const tm_engine *engine, onepath_place place, uint32_t branch, onepath_test access,
                             uint64_t *keys) {
    if (place == ONEPATH_IN_NAMED) {
        keys[0] = onepath_name_key(branch, onepath_test_name(access), onepath_kind_of(engine, access));
        return 1;
    }
    uint32_t count = onepath_keys_by_value(engine, access, keys);
    for (uint32_t i = 0; branch != 0 && i < count; i++) {
        keys[i] = onepath_key_in_branch(keys[i], branch);
    }
    return count;
}

uint32_t onepath_keys_of_record(const tm_engine *engine, const onepath_record *record, uint64_t *keys) {
    return onepath_bucket_keys(engine, (onepath_place)record->place, record->branch, record->access, keys);
}

static uint64_t pair_key_with(const tm_engine *engine, onepath_test access, uint32_t partner) {
    return onepath_pair_key(onepath_test_name(access), onepath_kind_of(engine, access), partner >> 2, partner & 3);
}

uint64_t onepath_pair_key_of(const tm_engine *engine, const onepath_tests *tests) {
    return pair_key_with(engine, tests->tests[0], onepath_partner_of(engine, tests->tests[1]));
}

uint64_t onepath_pair_key_of_record(const tm_engine *engine, uint32_t handle) {
    const onepath_record *record = &engine->records[handle];
    return pair_key_with(engine, record->access, onepath_note_of(engine, record));
}

/* true for a list of one kind in which each value has a bucket of its own: no number without a code. */
static bool is_plain_list(const tm_constraint *constraint) {
    for (uint32_t i = 0; i < constraint->operand_count; i++) {
        const tm_value *value = &constraint->operands[i];
        bool is_wide =
            value->kind == TM_KIND_FLOAT || (value->kind == TM_KIND_INTEGER && !onepath_has_code(value->integer));
        if (is_wide || value->kind != constraint->operands[0].kind) {
            return false;
        }
    }
    return constraint->op == TM_OP_IN;
}

bool onepath_is_told_by_key(const tm_engine *engine, onepath_test test) {
    unsigned op = onepath_test_op(test);
    if (onepath_test_negated(test)) {
        return false;
    }
    if (op == ONEPATH_COMPLEX) {
        return is_plain_list(&engine->complexes[onepath_test_operand(test)].constraint);
    }
    return op == ONEPATH_BOOLEAN_EQ || op == ONEPATH_NUMBER_EQ || op == ONEPATH_STRING_EQ || op == ONEPATH_PATTERN;
}
