/* keys.c - makes and frees the key of one name and kind of value.
 *
 * Law: a key exists as long as a filter is pinned to it. Its wide part, once it exists, lives as long as the key.
 */
#include "engines/onepath/paths/keys.h"

#include "engines/onepath/paths/bucket_keys.h"
#include "engines/onepath/paths/buckets.h"

static onepath_key *new_key(tm_engine *engine) {
    onepath_key *key = TM_NEW(engine->memory, TM_HOT, onepath_key, 1);
    engine->key_count += key != NULL;
    return key;
}

onepath_key *onepath_key_use(tm_engine *engine, uint32_t name, unsigned kind) {
    onepath_key **slot = &engine->names.records[name].keys[kind];
    if (*slot == NULL) {
        *slot = new_key(engine);
    }
    return *slot;
}

void onepath_key_clear(tm_memory *memory, onepath_key *key) {
    onepath_cells_clear(memory, &key->cells);
    onepath_run *runs[3] = {key->at_most, key->at_least, key->intervals};
    for (unsigned i = 0; i < 3; i++) {
        if (runs[i] != NULL) {
            onepath_run_clear(memory, runs[i]);
            TM_DELETE(memory, TM_HOT, runs[i], onepath_run, 1);
        }
    }
    if (key->wide != NULL) {
        onepath_key_clear(memory, key->wide);
    }
    TM_DELETE(memory, TM_HOT, key->scan.entries, onepath_entry, key->scan.capacity);
    TM_DELETE(memory, TM_HOT, key->partners, uint64_t, key->partners == NULL ? 0 : ONEPATH_PARTNER_WORDS);
    TM_DELETE(memory, TM_HOT, key, onepath_key, 1);
}

void onepath_key_drop(tm_engine *engine, uint32_t name, unsigned kind) {
    onepath_key **slot = &engine->names.records[name].keys[kind];
    if (*slot != NULL && (*slot)->pins == 0) {
        engine->key_count -= 1 + ((*slot)->wide != NULL);
        onepath_key_clear(engine->memory, *slot);
        *slot = NULL;
    }
}

/* Wide cells, runs and intervals have a key of their own below the key of the name. */
onepath_key *onepath_key_use_range(tm_engine *engine, onepath_key *key, onepath_test test) {
    if (onepath_op_is_wide(onepath_test_op(test)) && key->wide == NULL) {
        key->wide = new_key(engine);
    }
    return onepath_range_key(key, test);
}

/* ---- bits and counts that a match reads ---- */

uint32_t onepath_keys_of_place(const tm_engine *engine, onepath_place place, const onepath_test tests[2],
                               uint32_t names[2], unsigned kinds[2]) {
    if (place == ONEPATH_IN_ALWAYS || place == ONEPATH_IN_BOXES) {
        return 0;
    }
    uint32_t count = place == ONEPATH_IN_PAIR ? 2 : 1;
    for (uint32_t i = 0; i < count; i++) {
        names[i] = onepath_test_name(tests[i]);
        kinds[i] = onepath_kind_of(engine, tests[i]);
    }
    return count;
}

void onepath_key_count(onepath_key *key, onepath_place place, bool is_partner, onepath_test access, uint32_t by) {
    key->pins += by;
    if (place == ONEPATH_IN_PAIR) {
        key->pairs += is_partner ? 0 : by;
        key->partner_bits = key->pairs == 0 ? 0 : key->partner_bits;
    } else if (place >= ONEPATH_IN_BUCKET_SINGLE && place <= ONEPATH_IN_NAMED) {
        bool is_pattern = onepath_test_op(access) == ONEPATH_PATTERN;
        *(is_pattern ? &key->patterns : &key->equalities) += by;
        key->pattern_bits = key->patterns == 0 ? 0 : key->pattern_bits;
        key->equal_bits = key->equalities == 0 ? 0 : key->equal_bits;
    }
}

void onepath_key_mark(const tm_engine *engine, onepath_key *key, onepath_test access) {
    uint64_t keys[TM_IN_VALUES_MAX];
    uint64_t *bits = onepath_test_op(access) == ONEPATH_PATTERN ? &key->pattern_bits : &key->equal_bits;
    for (uint32_t left = onepath_keys_by_value(engine, access, keys); left > 0; left--) {
        *bits |= onepath_operand_bit((uint32_t)keys[left - 1]);
    }
}

bool onepath_key_refine(tm_engine *engine, onepath_key *key) {
    uint64_t *partners = TM_NEW(engine->memory, TM_HOT, uint64_t, ONEPATH_PARTNER_WORDS);
    if (partners == NULL) {
        return false;
    }
    for (uint32_t bit = 0; bit < 64; bit++) {
        uint64_t eight = key->partner_bits >> bit & 1 ? 0xff : 0;
        partners[bit / 8] |= eight << (bit % 8 * 8);
    }
    key->partners = partners;
    return true;
}
