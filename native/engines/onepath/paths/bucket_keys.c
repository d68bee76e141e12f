/* bucket_keys.c - the keys of the buckets that a filter stands in.
 *
 * Law: a test that has a bucket has one key, or one for each value of a kept constraint; behind a branch the branch
 * stands in the key where the name was.
 */
#include "engines/onepath/paths/bucket_keys.h"

#include <string.h>

#include "engines/onepath/paths/buckets.h"
#include "engines/onepath/records.h"

uint32_t tamis_wide_operand(const tm_hash_key *key, bool is_real, int64_t integer, double real) {
    uint64_t bits = (uint64_t)integer;
    if (is_real) {
        memcpy(&bits, &real, sizeof bits);
    }
    return (uint32_t)tm_hash_words(bits, is_real, 0, key);
}

/* Of a value of a kept constraint. */
static uint64_t key_of_value(const tm_engine *engine, uint32_t name, const tm_value *value) {
    switch (value->kind) {
    case TM_KIND_BOOLEAN:
        return tamis_bucket_key(TAMIS_BY_BOOLEAN, name, (uint32_t)value->integer);
    case TM_KIND_STRING:
        return tamis_bucket_key(TAMIS_BY_STRING, name, (uint32_t)value->integer);
    case TM_KIND_INTEGER:
        if (tamis_has_code(value->integer)) {
            return tamis_bucket_key(TAMIS_BY_NUMBER, name, (uint32_t)tamis_code_of_integer(value->integer));
        }
        return tamis_bucket_key(TAMIS_BY_WIDE, name,
                                tamis_wide_operand(&engine->buckets.key, false, value->integer, 0));
    default:
        return tamis_bucket_key(TAMIS_BY_WIDE, name, tamis_wide_operand(&engine->buckets.key, true, 0, value->real));
    }
}

uint32_t tamis_keys_by_value(const tm_engine *engine, tamis_test test, uint64_t *keys) {
    uint32_t name = tamis_test_name(test);
    uint32_t operand = tamis_test_operand(test);
    switch (tamis_test_op(test)) {
    case TAMIS_BOOLEAN_EQ:
        keys[0] = tamis_bucket_key(TAMIS_BY_BOOLEAN, name, operand);
        return 1;
    case TAMIS_NUMBER_EQ:
        keys[0] = tamis_bucket_key(TAMIS_BY_NUMBER, name, operand);
        return 1;
    case TAMIS_STRING_EQ:
        keys[0] = tamis_bucket_key(TAMIS_BY_STRING, name, operand);
        return 1;
    case TAMIS_PATTERN:
        keys[0] = tamis_bucket_key(TAMIS_BY_PATTERN, name, operand);
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

uint32_t tamis_bucket_keys(const tm_engine *engine, tamis_place place, uint32_t branch, tamis_test access,
                           uint64_t *keys) {
    if (place == TAMIS_IN_NAMED) {
        keys[0] = tamis_name_key(branch, tamis_test_name(access), tamis_kind_of(engine, access));
        return 1;
    }
    uint32_t count = tamis_keys_by_value(engine, access, keys);
    for (uint32_t i = 0; branch != 0 && i < count; i++) {
        keys[i] = tamis_key_in_branch(keys[i], branch);
    }
    return count;
}

uint32_t tamis_keys_of_record(const tm_engine *engine, const tamis_record *record, uint64_t *keys) {
    return tamis_bucket_keys(engine, (tamis_place)record->place, record->branch, record->access, keys);
}

static uint64_t pair_key_with(const tm_engine *engine, tamis_test access, uint32_t partner) {
    return tamis_pair_key(tamis_test_name(access), tamis_kind_of(engine, access), partner >> 2, partner & 3);
}

uint64_t tamis_pair_key_of(const tm_engine *engine, const tamis_tests *tests) {
    return pair_key_with(engine, tests->tests[0], tamis_partner_of(engine, tests->tests[1]));
}

uint64_t tamis_pair_key_of_record(const tm_engine *engine, uint32_t handle) {
    const tamis_record *record = &engine->records[handle];
    return pair_key_with(engine, record->access, tamis_note_of(engine, record));
}

/* Of a list of one kind in which each value has a bucket for itself: no number without a code. */
static bool is_plain_list(const tm_constraint *constraint) {
    for (uint32_t i = 0; i < constraint->operand_count; i++) {
        const tm_value *value = &constraint->operands[i];
        bool is_wide =
            value->kind == TM_KIND_FLOAT || (value->kind == TM_KIND_INTEGER && !tamis_has_code(value->integer));
        if (is_wide || value->kind != constraint->operands[0].kind) {
            return false;
        }
    }
    return constraint->op == TM_OP_IN;
}

bool tamis_is_told_by_key(const tm_engine *engine, tamis_test test) {
    unsigned op = tamis_test_op(test);
    if (tamis_test_negated(test)) {
        return false;
    }
    if (op == TAMIS_COMPLEX) {
        return is_plain_list(&engine->complexes[tamis_test_operand(test)].constraint);
    }
    return op == TAMIS_BOOLEAN_EQ || op == TAMIS_NUMBER_EQ || op == TAMIS_STRING_EQ || op == TAMIS_PATTERN;
}
