/* idset.c - open addressing over ids. Law: see idset.h. */
#include "base/idset.h"

#include "base/probes.h"

#define CAPACITY_MIN 8

static void place(uint32_t *slots, uint32_t capacity, uint64_t hash, uint32_t id) {
    uint32_t at = (uint32_t)hash & (capacity - 1);
    while (slots[at] != 0) {
        at = (at + 1) & (capacity - 1);
    }
    slots[at] = id;
}

int tm_idset_reserve(tm_idset *set, tm_memory *memory, tm_heat heat, tm_id_hash hash_of, const void *owner) {
    if ((uint64_t)(set->count + 1) * 5 <= (uint64_t)set->capacity * 4) {
        return TM_OK;
    }
    uint32_t capacity = set->capacity == 0 ? CAPACITY_MIN : set->capacity * 2;
    uint32_t *slots = TM_NEW(memory, heat, uint32_t, capacity);
    if (slots == NULL) {
        return TM_NO_MEMORY;
    }
    for (uint32_t i = 0; i < set->capacity; i++) {
        if (set->slots[i] != 0) {
            place(slots, capacity, hash_of(owner, set->slots[i]), set->slots[i]);
        }
    }
    TM_DELETE(memory, heat, set->slots, uint32_t, set->capacity);
    set->slots = slots;
    set->capacity = capacity;
    return TM_OK;
}

void tm_idset_insert(tm_idset *set, uint64_t hash, uint32_t id) {
    place(set->slots, set->capacity, hash, id);
    set->count++;
}

void tm_idset_remove(tm_idset *set, uint64_t hash, uint32_t id, tm_id_hash hash_of, const void *owner) {
    uint32_t mask = set->capacity - 1;
    uint32_t hole = (uint32_t)hash & mask;
    while (set->slots[hole] != id) {
        hole = (hole + 1) & mask;
    }
    /* Whoever probed across the hole to get where it is moves into it. */
    for (uint32_t at = (hole + 1) & mask; set->slots[at] != 0; at = (at + 1) & mask) {
        uint32_t home = (uint32_t)hash_of(owner, set->slots[at]) & mask;
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            set->slots[hole] = set->slots[at];
            hole = at;
        }
    }
    set->slots[hole] = 0;
    set->count--;
}

void tm_idset_probes(const tm_idset *set, tm_id_hash hash_of, const void *owner, tm_probes *probes) {
    for (uint32_t at = 0; at < set->capacity; at++) {
        if (set->slots[at] != 0) {
            uint32_t home = (uint32_t)hash_of(owner, set->slots[at]) & (set->capacity - 1);
            tm_probes_note(probes, home, at, set->capacity);
        }
    }
}

void tm_idset_free(tm_idset *set, tm_memory *memory, tm_heat heat) {
    TM_DELETE(memory, heat, set->slots, uint32_t, set->capacity);
    *set = (tm_idset){0};
}
