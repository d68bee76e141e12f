/* keys.c - the life of what hangs on one name and kind of value.
 *
 * Law: a key exists as long as something is pinned to it. Its wide part, once there is one, lives as long as it does.
 */
#include "engines/onepath/paths/keys.h"

#include "engines/onepath/paths/bucket_keys.h"
#include "engines/onepath/paths/buckets.h"

static tamis_key *new_key(tm_engine *engine) {
    tamis_key *key = TM_NEW(engine->memory, TM_HOT, tamis_key, 1);
    engine->key_count += key != NULL;
    return key;
}

tamis_key *tamis_key_use(tm_engine *engine, uint32_t name, unsigned kind) {
    tamis_key **slot = &engine->names.records[name].keys[kind];
    if (*slot == NULL) {
        *slot = new_key(engine);
    }
    return *slot;
}

void tamis_key_clear(tm_memory *memory, tamis_key *key) {
    tamis_cells_clear(memory, &key->cells);
    tamis_run *runs[3] = {key->at_most, key->at_least, key->intervals};
    for (unsigned i = 0; i < 3; i++) {
        if (runs[i] != NULL) {
            tamis_run_clear(memory, runs[i]);
            TM_DELETE(memory, TM_HOT, runs[i], tamis_run, 1);
        }
    }
    if (key->wide != NULL) {
        tamis_key_clear(memory, key->wide);
    }
    TM_DELETE(memory, TM_HOT, key->scan.entries, tamis_entry, key->scan.capacity);
    TM_DELETE(memory, TM_HOT, key->partners, uint64_t, key->partners == NULL ? 0 : TAMIS_PARTNER_WORDS);
    TM_DELETE(memory, TM_HOT, key, tamis_key, 1);
}

void tamis_key_drop(tm_engine *engine, uint32_t name, unsigned kind) {
    tamis_key **slot = &engine->names.records[name].keys[kind];
    if (*slot != NULL && (*slot)->pins == 0) {
        engine->key_count -= 1 + ((*slot)->wide != NULL);
        tamis_key_clear(engine->memory, *slot);
        *slot = NULL;
    }
}

/* Wide cells, runs and intervals have a key of their own below the key of the name. */
tamis_key *tamis_key_use_range(tm_engine *engine, tamis_key *key, tamis_test test) {
    if (tamis_op_is_wide(tamis_test_op(test)) && key->wide == NULL) {
        key->wide = new_key(engine);
    }
    return tamis_range_key(key, test);
}

/* ---- what a match knows of a key ---- */

uint32_t tamis_keys_of_place(const tm_engine *engine, tamis_place place, const tamis_test tests[2], uint32_t names[2],
                             unsigned kinds[2]) {
    if (place == TAMIS_IN_ALWAYS || place == TAMIS_IN_BOXES) {
        return 0;
    }
    uint32_t count = place == TAMIS_IN_PAIR ? 2 : 1;
    for (uint32_t i = 0; i < count; i++) {
        names[i] = tamis_test_name(tests[i]);
        kinds[i] = tamis_kind_of(engine, tests[i]);
    }
    return count;
}

void tamis_key_count(tamis_key *key, tamis_place place, bool is_partner, tamis_test access, uint32_t by) {
    key->pins += by;
    if (place == TAMIS_IN_PAIR) {
        key->pairs += is_partner ? 0 : by;
        key->partner_bits = key->pairs == 0 ? 0 : key->partner_bits;
    } else if (place >= TAMIS_IN_BUCKET_SINGLE && place <= TAMIS_IN_NAMED) {
        bool is_pattern = tamis_test_op(access) == TAMIS_PATTERN;
        *(is_pattern ? &key->patterns : &key->equalities) += by;
        key->pattern_bits = key->patterns == 0 ? 0 : key->pattern_bits;
        key->equal_bits = key->equalities == 0 ? 0 : key->equal_bits;
    }
}

void tamis_key_mark(const tm_engine *engine, tamis_key *key, tamis_test access) {
    uint64_t keys[TM_IN_VALUES_MAX];
    uint64_t *bits = tamis_test_op(access) == TAMIS_PATTERN ? &key->pattern_bits : &key->equal_bits;
    for (uint32_t left = tamis_keys_by_value(engine, access, keys); left > 0; left--) {
        *bits |= tamis_operand_bit((uint32_t)keys[left - 1]);
    }
}

bool tamis_key_refine(tm_engine *engine, tamis_key *key) {
    uint64_t *partners = TM_NEW(engine->memory, TM_HOT, uint64_t, TAMIS_PARTNER_WORDS);
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
