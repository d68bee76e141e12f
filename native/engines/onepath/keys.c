/* keys.c - the life of what hangs on one name and kind of value.
 *
 * Law: a key exists as long as something is pinned to it. Its wide part, once there is one, lives as long as it does.
 */
#include "engines/onepath/buckets.h"

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
