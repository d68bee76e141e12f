/* holders.c - see holders.h. */
#include "log/holders.h"

#include "base/grow.h"
#include "base/tested.h"

static uint64_t hash(const tm_log_holders *holders, uint64_t id, tm_role role) {
    return tm_hash_words(id, role, 0, &holders->memory->key);
}

static uint64_t hash_of(const void *owner, uint64_t place) {
    const tm_log_holders *holders = owner;
    const tm_log_holder *holder = &holders->all[place - 1];
    return hash(holders, holder->id, holder->role);
}

tm_log_holder *tm_log_holders_find(const tm_log_holders *holders, uint64_t id, tm_role role) {
    tm_idset_search at = tm_idset_start(&holders->set, hash(holders, id, role));
    uint32_t place;
    while ((place = tm_idset_next(&at)) != 0) {
        tm_log_holder *holder = &holders->all[place - 1];
        if (holder->id == id && holder->role == role) {
            return holder;
        }
    }
    return NULL;
}

/* Return an unused place, borrowed until the next one is added; NULL: no memory. */
static tm_log_holder *new_place(tm_log_holders *holders) {
    for (uint32_t i = holders->free; i > 0 && i <= holders->count; i++) {
        if (!holders->all[i - 1].is_known) {
            holders->free = i + 1;
            return &holders->all[i - 1];
        }
    }
    holders->free = 0;
    if (!tm_grow(holders->memory, TM_COLD, &holders->all, sizeof *holders->all, &holders->capacity,
                 holders->count + 1)) {
        return NULL;
    }
    return &holders->all[holders->count++];
}

tm_log_holder *tm_log_holders_take(tm_log_holders *holders, uint64_t id, tm_role role, uint64_t first) {
    tm_log_holder *holder = tm_log_holders_find(holders, id, role);
    if (holder != NULL) {
        return holder;
    }
    if (tm_idset_reserve(&holders->set, holders->memory, TM_COLD, hash_of, holders) != TM_OK) {
        return NULL;
    }
    holder = new_place(holders);
    if (holder == NULL) {
        return NULL;
    }
    *holder = (tm_log_holder){.id = id, .role = role, .is_known = true, .done = first > 0 ? first - 1 : 0};
    holders->known++;
    tm_idset_insert(&holders->set, hash(holders, id, role), (uint64_t)(holder - holders->all) + 1);
    return holder;
}

void tm_log_holders_forget(tm_log_holders *holders, tm_log_holder *holder) {
    uint32_t place = (uint32_t)(holder - holders->all) + 1;
    tm_idset_remove(&holders->set, hash_of(holders, place), place, hash_of, holders);
    tm_ranges_free(&holder->above, holders->memory);
    *holder = (tm_log_holder){0};
    holders->known--;
    holders->free = holders->free == 0 || place < holders->free ? place : holders->free;
}

bool tm_log_holders_done(tm_log_holders *holders, tm_log_holder *holder, uint64_t first, uint64_t last) {
    if (last <= holder->done || first > last) {
        return true;
    }
    if (first > holder->done + 1 && !TM_BREAKS(HOLES_ARE_DONE)) {
        return tm_ranges_add(&holder->above, holders->memory, first, last);
    }
    if (holder->above.count > 0 && !tm_ranges_cut(&holder->above, holders->memory, 0, last)) {
        return false;
    }
    holder->done = last;
    tm_span *next = holder->above.spans;
    if (holder->above.count > 0 && next->first == last + 1) {
        uint64_t up_to = next->last;
        if (tm_ranges_cut(&holder->above, holders->memory, 0, up_to)) {
            holder->done = up_to;
        }
    }
    return true;
}

void tm_log_holders_free(tm_log_holders *holders) {
    for (uint32_t i = 0; i < holders->count; i++) {
        tm_ranges_free(&holders->all[i].above, holders->memory);
    }
    TM_DELETE(holders->memory, TM_COLD, holders->all, tm_log_holder, holders->capacity);
    tm_idset_free(&holders->set, holders->memory, TM_COLD);
    *holders = (tm_log_holders){.memory = holders->memory};
}
