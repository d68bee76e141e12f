/* filter_keys.c - see filter_keys.h. */
#include "network/filter_keys.h"

#include "base/grow.h"
#include "base/hash.h"
#include "network/remote_filters.h"

static uint64_t mix(uint64_t word) {
    return (word ^ word >> 32) * UINT64_C(0xd6e8feb86659fd93);
}

/* Any router computes it, so it has no secret. Ids are chosen by routers, not by clients. */
uint32_t tm_filter_key(uint64_t issuer, uint64_t id) {
    uint64_t mixed = mix(mix(mix(issuer) ^ id));
    return (uint32_t)(mixed ^ mixed >> 32);
}

void tm_filter_keys_init(tm_filter_keys *keys, tm_memory *memory) {
    *keys = (tm_filter_keys){.memory = memory};
}

void tm_filter_keys_clear(tm_filter_keys *keys) {
    TM_DELETE(keys->memory, TM_COLD, keys->keys, uint32_t, keys->capacity);
    tm_idset_free(&keys->set, keys->memory, TM_COLD);
    tm_filter_keys_init(keys, keys->memory);
}

static uint64_t hash_key(const tm_filter_keys *keys, uint32_t key) {
    return tm_hash_words(key, 0, 0, &keys->memory->key);
}

static uint64_t hash_of(const void *owner, uint64_t entry) {
    const tm_filter_keys *keys = owner;
    return hash_key(keys, keys->keys[entry - 1]);
}

int tm_filter_keys_reserve(tm_filter_keys *keys, uint32_t handle) {
    bool has_room = tm_idset_reserve(&keys->set, keys->memory, TM_COLD, hash_of, keys) == TM_OK &&
                    tm_grow(keys->memory, TM_COLD, &keys->keys, sizeof *keys->keys, &keys->capacity, handle + 1);
    return has_room ? TM_OK : TM_NO_MEMORY;
}

uint32_t tm_filter_keys_find(const tm_filter_keys *keys, uint32_t key) {
    uint32_t found = FILTER_NONE;
    tm_idset_search at = tm_idset_start(&keys->set, hash_key(keys, key));
    for (uint32_t entry; (entry = tm_idset_next(&at)) != 0;) {
        if (keys->keys[entry - 1] != key) {
            continue;
        }
        if (keys->surplus == 0) {
            return entry - 1;
        }
        if (found != FILTER_NONE) {
            return FILTER_KEY_SHARED;
        }
        found = entry - 1;
    }
    return found;
}

void tm_filter_keys_add(tm_filter_keys *keys, uint32_t handle, uint32_t key) {
    keys->surplus += tm_filter_keys_find(keys, key) != FILTER_NONE;
    keys->keys[handle] = key;
    tm_idset_insert(&keys->set, hash_key(keys, key), handle + 1);
}

void tm_filter_keys_remove(tm_filter_keys *keys, uint32_t handle) {
    tm_idset_remove(&keys->set, hash_of(keys, handle + 1), handle + 1, hash_of, keys);
    keys->surplus -= tm_filter_keys_find(keys, keys->keys[handle]) != FILTER_NONE;
}

bool tm_filter_keys_are_sound(const tm_filter_keys *keys, uint32_t count) {
    return keys->set.count == count && keys->surplus <= count && tm_idset_is_sound(&keys->set, hash_of, keys);
}
