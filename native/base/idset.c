/* idset.c - open addressing over ids, growing a few slots at a time. Law: see idset.h.
 *
 * A step of moving ends behind an empty old slot, so that no run of occupied slots is ever cut: the remaining old slots
 * can be searched, added to and removed from as if no id had been moved. The slots that have been passed are empty, so
 * a search that wraps around to them ends there.
 */
#include "base/idset.h"

#include "base/probes.h"

#define CAPACITY_MIN 8U
#define CAPACITY_MAX (UINT64_C(1) << 31)
#define PERCENT_MAX 80U
#define MOVED_AT_ONCE 64U /* old slots: a few microseconds, and all are moved long before the new ones are full */

static uint64_t empty_slot; /* never written */
const tm_slots tm_idset_nothing = {&empty_slot, 1, 0};

/* ---- slots ---- */

static uint64_t slot_at(const tm_idset *set, const tm_slots *slots, uint32_t at) {
    return set->has_words ? ((const uint64_t *)slots->slots)[at] : ((const uint32_t *)slots->slots)[at];
}

static void set_slot(const tm_idset *set, tm_slots *slots, uint32_t at, uint64_t id) {
    if (set->has_words) {
        ((uint64_t *)slots->slots)[at] = id;
    } else {
        ((uint32_t *)slots->slots)[at] = (uint32_t)id;
    }
}

static size_t bytes_of(const tm_idset *set, uint32_t capacity) {
    return capacity * (set->has_words ? sizeof(uint64_t) : sizeof(uint32_t));
}

static void place(const tm_idset *set, tm_slots *slots, uint64_t hash, uint64_t id) {
    uint32_t at = (uint32_t)hash & slots->mask;
    while (slot_at(set, slots, at) != 0) {
        at = (at + 1) & slots->mask;
    }
    set_slot(set, slots, at, id);
}

static tm_slots *slots_for(tm_idset *set, uint64_t hash) {
    return tm_idset_is_in_old(set, hash) ? &set->old : &set->now;
}

static void free_slots(tm_idset *set, tm_memory *memory, tm_heat heat, tm_slots *slots) {
    tm_free_counted(memory, heat, slots->slots, bytes_of(set, slots->capacity));
    *slots = (tm_slots){0};
}

/* ---- growing ---- */

static bool has_room(const tm_idset *set, uint32_t capacity, uint32_t more) {
    uint32_t percent = set->percent_max != 0 ? set->percent_max : PERCENT_MAX;
    return ((uint64_t)set->count + more) * 100 <= (uint64_t)capacity * percent;
}

/* Move the ids of the next `steps` old slots, and of those behind them up to an empty one. */
static void move_some(tm_idset *set, uint64_t steps, tm_id_hash hash_of, const void *owner) {
    uint32_t mask = set->old.mask;
    uint64_t end = set->moved + steps;
    uint64_t id = 1;
    for (; set->moved < end || id != 0; set->moved++) {
        uint32_t at = (set->start + set->moved) & mask;
        id = slot_at(set, &set->old, at);
        if (id != 0) {
            set_slot(set, &set->old, at, 0);
            place(set, &set->now, hash_of(owner, id), id);
        } else if (set->moved >= mask) {
            set->moved = set->old.capacity;
            return;
        }
    }
}

/* Continue growing; the old slots are freed when all have been passed. */
static void move_on(tm_idset *set, tm_memory *memory, tm_heat heat, tm_id_hash hash_of, const void *owner,
                    uint64_t steps) {
    if (set->old.slots == NULL) {
        return;
    }
    move_some(set, steps, hash_of, owner);
    if (set->moved >= set->old.capacity) {
        free_slots(set, memory, heat, &set->old);
        set->is_whole = true;
    }
}

static int begin_growth(tm_idset *set, tm_memory *memory, tm_heat heat, uint32_t more) {
    uint64_t capacity = set->now.capacity == 0 ? CAPACITY_MIN : set->now.capacity;
    while (capacity < CAPACITY_MAX && !has_room(set, (uint32_t)capacity, more)) {
        capacity *= 2;
    }
    if (!has_room(set, (uint32_t)capacity, more)) {
        return TM_NO_MEMORY;
    }
    tm_slots fresh = {.capacity = (uint32_t)capacity, .mask = (uint32_t)capacity - 1};
    fresh.slots = tm_alloc_counted(memory, heat, bytes_of(set, fresh.capacity));
    if (fresh.slots == NULL) {
        return TM_NO_MEMORY;
    }
    set->old = set->now;
    set->now = fresh;
    set->is_whole = set->old.slots == NULL;
    set->moved = 0;
    set->start = 0;
    while (set->old.slots != NULL && slot_at(set, &set->old, set->start++) != 0) {
    }
    return TM_OK;
}

int tm_idset_reserve_more(tm_idset *set, tm_memory *memory, tm_heat heat, tm_id_hash hash_of, const void *owner,
                          uint32_t more) {
    uint64_t steps = (uint64_t)more * MOVED_AT_ONCE;
    move_on(set, memory, heat, hash_of, owner, steps);
    if (has_room(set, set->now.capacity, more)) {
        return TM_OK;
    }
    move_on(set, memory, heat, hash_of, owner, set->old.capacity); /* rarely necessary: only for a very large `more` */
    int result = begin_growth(set, memory, heat, more);
    if (result == TM_OK) {
        move_on(set, memory, heat, hash_of, owner, steps);
    }
    return result;
}

int tm_idset_reserve(tm_idset *set, tm_memory *memory, tm_heat heat, tm_id_hash hash_of, const void *owner) {
    return tm_idset_reserve_more(set, memory, heat, hash_of, owner, 1);
}

/* ---- ids ---- */

void tm_idset_insert(tm_idset *set, uint64_t hash, uint64_t id) {
    place(set, slots_for(set, hash), hash, id);
    set->count++;
}

void tm_idset_remove(tm_idset *set, uint64_t hash, uint64_t id, tm_id_hash hash_of, const void *owner) {
    tm_slots *slots = slots_for(set, hash);
    uint32_t mask = slots->mask;
    uint32_t hole = (uint32_t)hash & mask;
    while (slot_at(set, slots, hole) != id) {
        hole = (hole + 1) & mask;
    }
    /* An id whose probe sequence crosses the hole moves into the hole. */
    uint64_t other;
    for (uint32_t at = (hole + 1) & mask; (other = slot_at(set, slots, at)) != 0; at = (at + 1) & mask) {
        uint32_t home = (uint32_t)hash_of(owner, other) & mask;
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            set_slot(set, slots, hole, other);
            hole = at;
        }
    }
    set_slot(set, slots, hole, 0);
    set->count--;
}

/* ---- inspection ---- */

static void note_probes(const tm_idset *set, const tm_slots *slots, tm_id_hash hash_of, const void *owner,
                        tm_probes *probes) {
    for (uint32_t at = 0; at < slots->capacity; at++) {
        uint64_t id = slot_at(set, slots, at);
        if (id != 0) {
            tm_probes_note(probes, (uint32_t)hash_of(owner, id) & slots->mask, at, slots->capacity);
        }
    }
}

void tm_idset_probes(const tm_idset *set, tm_id_hash hash_of, const void *owner, tm_probes *probes) {
    note_probes(set, &set->old, hash_of, owner, probes);
    note_probes(set, &set->now, hash_of, owner, probes);
}

static bool is_found(const tm_idset *set, uint64_t hash, uint64_t id) {
    tm_idset_search at = tm_idset_start(set, hash);
    uint64_t found;
    do {
        found = set->has_words ? tm_idset_next_word(&at) : tm_idset_next(&at);
    } while (found != 0 && found != id);
    return found == id;
}

/* Return how many of these ids are found under their hash. */
static uint32_t count_found(const tm_idset *set, const tm_slots *slots, tm_id_hash hash_of, const void *owner) {
    uint32_t count = 0;
    for (uint32_t at = 0; at < slots->capacity; at++) {
        uint64_t id = slot_at(set, slots, at);
        count += id != 0 && is_found(set, hash_of(owner, id), id);
    }
    return count;
}

bool tm_idset_is_sound(const tm_idset *set, tm_id_hash hash_of, const void *owner) {
    return count_found(set, &set->old, hash_of, owner) + count_found(set, &set->now, hash_of, owner) == set->count;
}

void tm_idset_free(tm_idset *set, tm_memory *memory, tm_heat heat) {
    free_slots(set, memory, heat, &set->old);
    free_slots(set, memory, heat, &set->now);
    *set = (tm_idset){.percent_max = set->percent_max, .has_words = set->has_words};
}
