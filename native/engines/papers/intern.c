/* intern.c - finds ids by a hash of their bytes, and bytes by id. Law: see intern.h. */
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "engines/papers/intern.h"

static uint64_t hash_bytes(const tm_intern *intern, const uint8_t *bytes, uint32_t length) {
    return tm_hash_text(bytes, length, &intern->memory->key);
}

static uint64_t hash_of(const void *owner, uint64_t id) {
    const tm_intern *intern = owner;
    return hash_bytes(intern, intern->entries[id].bytes, intern->entries[id].length);
}

void tm_intern_init(tm_intern *intern, tm_memory *memory, tm_heat heat) {
    *intern = (tm_intern){.memory = memory, .heat = heat, .count = 1};
}

/* Return the size of a copy: an empty string owns a byte, so that its entry is not free. */
static size_t stored_bytes(uint32_t length) {
    return length > 0 ? length : 1;
}

void tm_intern_free(tm_intern *intern) {
    for (uint32_t id = 1; id < intern->count; id++) {
        TM_DELETE(intern->memory, intern->heat, intern->entries[id].bytes, uint8_t,
                  stored_bytes(intern->entries[id].length));
    }
    TM_DELETE(intern->memory, intern->heat, intern->entries, tm_interned, intern->capacity);
    tm_idset_free(&intern->ids, intern->memory, intern->heat);
}

static uint32_t find_hashed(const tm_intern *intern, uint64_t hash, const uint8_t *bytes, uint32_t length) {
    tm_idset_search at = tm_idset_start(&intern->ids, hash);
    for (uint32_t id; (id = tm_idset_next(&at)) != 0;) {
        const tm_interned *entry = &intern->entries[id];
        if (entry->length == length && (length == 0 || memcmp(entry->bytes, bytes, length) == 0)) {
            return id;
        }
    }
    return 0;
}

uint32_t tm_intern_find(const tm_intern *intern, const uint8_t *bytes, uint32_t length) {
    return find_hashed(intern, hash_bytes(intern, bytes, length), bytes, length);
}

static uint32_t take_id(tm_intern *intern) {
    uint32_t id = intern->free;
    if (id == 0) {
        return intern->count++;
    }
    intern->free = intern->entries[id].holders;
    return id;
}

static int add(tm_intern *intern, uint64_t hash, const uint8_t *bytes, uint32_t length, uint32_t *id) {
    if (intern->free == 0 && !tm_grow(intern->memory, intern->heat, &intern->entries, sizeof *intern->entries,
                                      &intern->capacity, intern->count + 1)) {
        return TM_NO_MEMORY;
    }
    if (tm_idset_reserve(&intern->ids, intern->memory, intern->heat, hash_of, intern) != TM_OK) {
        return TM_NO_MEMORY;
    }
    uint8_t *copy = TM_NEW(intern->memory, intern->heat, uint8_t, stored_bytes(length));
    if (copy == NULL) {
        return TM_NO_MEMORY;
    }
    if (length > 0) {
        memcpy(copy, bytes, length);
    }
    *id = take_id(intern);
    intern->entries[*id] = (tm_interned){.bytes = copy, .length = length, .holders = 1};
    tm_idset_insert(&intern->ids, hash, *id);
    intern->text_bytes += tm_memory_charge(stored_bytes(length));
    return TM_OK;
}

int tm_intern_hold(tm_intern *intern, const uint8_t *bytes, uint32_t length, uint32_t *id) {
    uint64_t hash = hash_bytes(intern, bytes, length);
    *id = find_hashed(intern, hash, bytes, length);
    if (*id == 0) {
        return add(intern, hash, bytes, length, id);
    }
    intern->entries[*id].holders++;
    return TM_OK;
}

void tm_intern_release(tm_intern *intern, uint32_t id) {
    tm_interned *entry = &intern->entries[id];
    if (--entry->holders > 0) {
        return;
    }
    tm_idset_remove(&intern->ids, hash_of(intern, id), id, hash_of, intern);
    intern->text_bytes -= tm_memory_charge(stored_bytes(entry->length));
    TM_DELETE(intern->memory, intern->heat, entry->bytes, uint8_t, stored_bytes(entry->length));
    *entry = (tm_interned){.holders = intern->free};
    intern->free = id;
    if (intern->ids.count == 0) {
        tm_intern_free(intern);
        tm_intern_init(intern, intern->memory, intern->heat);
    }
}

int tm_intern_compare(const tm_intern *intern, uint32_t id, const uint8_t *bytes, uint32_t length) {
    const tm_interned *entry = &intern->entries[id];
    uint32_t shared = entry->length < length ? entry->length : length;
    int order = shared > 0 ? memcmp(entry->bytes, bytes, shared) : 0;
    return order != 0 ? order : (entry->length > length) - (entry->length < length);
}

void tm_intern_probes(const tm_intern *intern, tm_probes *probes) {
    tm_idset_probes(&intern->ids, hash_of, intern, probes);
}

int tm_intern_validate(const tm_intern *intern, const uint32_t *holders, const char **reason) {
    uint32_t used = 0;
    for (uint32_t id = 1; id < intern->count; id++) {
        const tm_interned *entry = &intern->entries[id];
        if (entry->bytes == NULL) {
            if (holders[id] != 0) {
                *reason = "a free interned string is held";
                return TM_MISUSED;
            }
            continue;
        }
        used++;
        if (entry->holders != holders[id] || holders[id] == 0) {
            *reason = "an interned string counts its holders wrongly";
            return TM_MISUSED;
        }
        if (tm_intern_find(intern, entry->bytes, entry->length) != id) {
            *reason = "an interned string is not found under its bytes";
            return TM_MISUSED;
        }
    }
    if (used != intern->ids.count) {
        *reason = "the intern hash has a wrong number of ids";
        return TM_MISUSED;
    }
    return TM_OK;
}
