/* copies.c - see copies.h. */
#include "durable/custody/copies.h"

#include "base/grow.h"
#include "base/hash.h"

/* ---- sets ---- */

static uint64_t hash_of_set(const void *owner, uint64_t id) {
    const tm_copies *all = owner;
    return tm_hash_u64(all->sets[id - 1].copies, &all->memory->key);
}

uint32_t tm_copies_find(const tm_copies *all, uint64_t copies) {
    tm_idset_search search = tm_idset_start(&all->by_copies, tm_hash_u64(copies, &all->memory->key));
    for (uint32_t id = tm_idset_next(&search); id != 0; id = tm_idset_next(&search)) {
        if (all->sets[id - 1].copies == copies) {
            return id - 1;
        }
    }
    return COPY_SET_NONE;
}

/* Add a set without copies; COPY_SET_NONE: no memory. */
static uint32_t new_set(tm_copies *all, uint64_t copies, uint32_t copies_min) {
    uint32_t set = all->set_free != 0 ? all->set_free - 1 : all->set_count;
    if (!tm_grow(all->memory, TM_COLD, &all->sets, sizeof *all->sets, &all->set_capacity, set + 1) ||
        !tm_grow(all->memory, TM_COLD, &all->wanted, sizeof *all->wanted, &all->wanted_capacity, set + 1) ||
        tm_idset_reserve(&all->by_copies, all->memory, TM_COLD, hash_of_set, all) != TM_OK) {
        return COPY_SET_NONE;
    }
    if (set == all->set_count) {
        all->set_count++;
    } else {
        all->set_free = all->sets[set].homes[0];
    }
    all->sets[set] = (tm_copy_set){.copies = copies, .copies_min = copies_min};
    tm_idset_insert(&all->by_copies, hash_of_set(all, set + 1), set + 1);
    return set;
}

static uint32_t join(tm_copies *all, uint64_t copies, uint32_t copies_min) {
    uint32_t set = tm_copies_find(all, copies);
    set = set != COPY_SET_NONE ? set : new_set(all, copies, copies_min);
    if (set != COPY_SET_NONE) {
        all->sets[set].users++;
    }
    return set;
}

static void leave(tm_copies *all, uint32_t set) {
    if (--all->sets[set].users == 0) {
        tm_idset_remove(&all->by_copies, hash_of_set(all, set + 1), set + 1, hash_of_set, all);
        all->sets[set].homes[0] = all->set_free;
        all->set_free = set + 1;
    }
}

bool tm_copies_join(tm_copies *all, uint64_t copies, uint32_t copies_min) {
    return join(all, copies, copies_min) != COPY_SET_NONE;
}

void tm_copies_leave(tm_copies *all, uint64_t copies) {
    leave(all, tm_copies_find(all, copies));
}

/* ---- copies at homes ---- */

static uint64_t hash_of_number(const tm_copies *all, uint32_t home, uint32_t number) {
    return tm_hash_u64((uint64_t)home << 32 | number, &all->memory->key);
}

static uint64_t hash_of_stated(const void *owner, uint64_t id) {
    const tm_copies *all = owner;
    return hash_of_number(all, all->stated[id - 1].home, all->stated[id - 1].number);
}

/* Return the row + 1 of a copy at a home; 0: there is none. */
static uint32_t find_stated(const tm_copies *all, uint32_t home, uint32_t number) {
    tm_idset_search search = tm_idset_start(&all->by_number, hash_of_number(all, home, number));
    uint32_t id = tm_idset_next(&search);
    while (id != 0 && (all->stated[id - 1].home != home || all->stated[id - 1].number != number)) {
        id = tm_idset_next(&search);
    }
    return id;
}

uint32_t tm_copies_at(const tm_copies *all, uint32_t home, uint32_t number) {
    uint32_t id = find_stated(all, home, number);
    return id != 0 ? all->stated[id - 1].set : COPY_SET_NONE;
}

static void end_stated(tm_copies *all, uint32_t id) {
    tm_stated_copy *row = &all->stated[id - 1];
    leave(all, row->set);
    tm_idset_remove(&all->by_number, hash_of_stated(all, id), id, hash_of_stated, all);
    *row = (tm_stated_copy){.number = all->stated_free, .set = COPY_SET_NONE};
    all->stated_free = id;
}

bool tm_copies_state(tm_copies *all, uint32_t home, uint32_t number, uint64_t copies, uint32_t copies_min) {
    uint32_t before = find_stated(all, home, number);
    if (before != 0 && all->sets[all->stated[before - 1].set].copies == copies) {
        return true;
    }
    if (before != 0) {
        end_stated(all, before);
    }
    if (copies == 0) {
        return true;
    }
    uint32_t row = all->stated_free != 0 ? all->stated_free - 1 : all->stated_count;
    if (!tm_grow(all->memory, TM_COLD, &all->stated, sizeof *all->stated, &all->stated_capacity, row + 1) ||
        tm_idset_reserve(&all->by_number, all->memory, TM_COLD, hash_of_stated, all) != TM_OK) {
        return false;
    }
    uint32_t set = join(all, copies, copies_min);
    if (set == COPY_SET_NONE) {
        return false;
    }
    if (row == all->stated_count) {
        all->stated_count++;
    } else {
        all->stated_free = all->stated[row].number;
    }
    all->stated[row] = (tm_stated_copy){home, number, set};
    tm_idset_insert(&all->by_number, hash_of_stated(all, row + 1), row + 1);
    return true;
}

void tm_copies_close(tm_copies *all, uint32_t home) {
    for (uint32_t row = 0; row < all->stated_count; row++) {
        if (all->stated[row].set != COPY_SET_NONE && all->stated[row].home == home) {
            end_stated(all, row + 1);
        }
    }
}

void tm_copies_free(tm_copies *all) {
    tm_idset_free(&all->by_copies, all->memory, TM_COLD);
    tm_idset_free(&all->by_number, all->memory, TM_COLD);
    TM_DELETE(all->memory, TM_COLD, all->sets, tm_copy_set, all->set_capacity);
    TM_DELETE(all->memory, TM_COLD, all->stated, tm_stated_copy, all->stated_capacity);
    TM_DELETE(all->memory, TM_COLD, all->wanted, uint32_t, all->wanted_capacity);
    *all = (tm_copies){.memory = all->memory};
}

bool tm_copies_are_sound(const tm_copies *all) {
    for (uint32_t row = 0; row < all->stated_count; row++) {
        uint32_t set = all->stated[row].set;
        if (set != COPY_SET_NONE && (set >= all->set_count || all->sets[set].users == 0)) {
            return false;
        }
    }
    return all->wanted_count <= all->set_count && all->set_count <= all->wanted_capacity &&
           tm_idset_is_sound(&all->by_copies, hash_of_set, all) &&
           tm_idset_is_sound(&all->by_number, hash_of_stated, all);
}

/* ---- the current message ---- */

static tm_copy_set *collect(tm_copies *all, uint32_t set, uint64_t stamp) {
    tm_copy_set *found = &all->sets[set];
    if (found->stamp != stamp) {
        found->stamp = stamp;
        found->home_count = 0;
        found->is_here = false;
        all->wanted[all->wanted_count++] = set;
    }
    return found;
}

void tm_copies_want_here(tm_copies *all, uint64_t copies, uint64_t stamp) {
    collect(all, tm_copies_find(all, copies), stamp)->is_here = true;
}

void tm_copies_lack_here(tm_copies *all, uint64_t copies) {
    all->sets[tm_copies_find(all, copies)].is_here = false;
}

bool tm_copies_want(tm_copies *all, uint32_t set, uint32_t home, uint64_t stamp) {
    tm_copy_set *found = collect(all, set, stamp);
    for (uint32_t i = 0; i < found->home_count; i++) {
        if (found->homes[i] == home) {
            return true;
        }
    }
    if (found->home_count == COPIES_HOMES_MAX) {
        return false;
    }
    found->homes[found->home_count++] = home;
    return true;
}
