/* claimants.c - see claimants.h. */
#include "log/claimants.h"

#include "base/grow.h"
#include "base/tested.h"

static uint64_t hash(const tm_claimants *claimants, uint64_t id, tm_role role) {
    return tm_hash_words(id, role, 0, &claimants->memory->key);
}

static uint64_t hash_of(const void *owner, uint64_t place) {
    const tm_claimants *claimants = owner;
    const tm_claimant *claimant = &claimants->all[place - 1];
    return hash(claimants, claimant->id, claimant->role);
}

tm_claimant *tm_claimants_find(const tm_claimants *claimants, uint64_t id, tm_role role) {
    tm_idset_search at = tm_idset_start(&claimants->set, hash(claimants, id, role));
    uint32_t place;
    while ((place = tm_idset_next(&at)) != 0) {
        tm_claimant *claimant = &claimants->all[place - 1];
        if (claimant->id == id && claimant->role == role) {
            return claimant;
        }
    }
    return NULL;
}

/* A place that no claimant has. */
static tm_claimant *new_place(tm_claimants *claimants) {
    for (uint32_t i = claimants->free; i > 0 && i <= claimants->count; i++) {
        if (!claimants->all[i - 1].is_known) {
            claimants->free = i + 1;
            return &claimants->all[i - 1];
        }
    }
    claimants->free = 0;
    if (!tm_grow(claimants->memory, TM_COLD, &claimants->all, sizeof *claimants->all, &claimants->capacity,
                 claimants->count + 1)) {
        return NULL;
    }
    return &claimants->all[claimants->count++];
}

tm_claimant *tm_claimants_take(tm_claimants *claimants, uint64_t id, tm_role role, uint64_t first) {
    tm_claimant *claimant = tm_claimants_find(claimants, id, role);
    if (claimant != NULL) {
        return claimant;
    }
    if (tm_idset_reserve(&claimants->set, claimants->memory, TM_COLD, hash_of, claimants) != TM_OK) {
        return NULL;
    }
    claimant = new_place(claimants);
    if (claimant == NULL) {
        return NULL;
    }
    *claimant = (tm_claimant){.id = id, .role = role, .is_known = true, .done = first > 0 ? first - 1 : 0};
    claimants->known++;
    tm_idset_insert(&claimants->set, hash(claimants, id, role), (uint64_t)(claimant - claimants->all) + 1);
    return claimant;
}

void tm_claimants_forget(tm_claimants *claimants, tm_claimant *claimant) {
    uint32_t place = (uint32_t)(claimant - claimants->all) + 1;
    tm_idset_remove(&claimants->set, hash_of(claimants, place), place, hash_of, claimants);
    tm_ranges_free(&claimant->above, claimants->memory);
    *claimant = (tm_claimant){0};
    claimants->known--;
    claimants->free = claimants->free == 0 || place < claimants->free ? place : claimants->free;
}

bool tm_claimant_done(tm_claimants *claimants, tm_claimant *claimant, uint64_t first, uint64_t last) {
    if (last <= claimant->done || first > last) {
        return true;
    }
    if (first > claimant->done + 1 && !TM_BREAKS(HOLES_ARE_DONE)) {
        return tm_ranges_add(&claimant->above, claimants->memory, first, last);
    }
    if (claimant->above.count > 0 && !tm_ranges_cut(&claimant->above, claimants->memory, 0, last)) {
        return false;
    }
    claimant->done = last;
    tm_span *next = claimant->above.spans;
    if (claimant->above.count > 0 && next->first == last + 1) {
        uint64_t up_to = next->last;
        if (tm_ranges_cut(&claimant->above, claimants->memory, 0, up_to)) {
            claimant->done = up_to;
        }
    }
    return true;
}

void tm_claimants_free(tm_claimants *claimants) {
    for (uint32_t i = 0; i < claimants->count; i++) {
        tm_ranges_free(&claimants->all[i].above, claimants->memory);
    }
    TM_DELETE(claimants->memory, TM_COLD, claimants->all, tm_claimant, claimants->capacity);
    tm_idset_free(&claimants->set, claimants->memory, TM_COLD);
    *claimants = (tm_claimants){.memory = claimants->memory};
}
