/* idset.h - a hash set of dense ids, or of words of eight bytes, whose contents live elsewhere.
 *
 * Law: an id is found under exactly the hash it was inserted with. Probing is linear, removal shifts back, so there
 * are no tombstones and the load never exceeds the set's limit. Id 0 means "none" everywhere in native/ and is never
 * held. No call takes long, however many ids there are: a full set gets new slots, and every tm_idset_reserve from then
 * on moves the ids of a few old slots, in slot order:
 *
 *     old   |.......|#########|      a key whose home among the old slots has been passed is among the new ones,
 *           ^start  ^+ moved         any other among the old ones: a search reads one of the two, never both
 *     new   |####...........|####...........|      twice as many; only slots with ids are ever touched
 */
#ifndef TM_IDSET_H
#define TM_IDSET_H

#include "base/memory.h"
#include "tm.h"

/* Return the hash of the contents of `id`, an id or a word; `owner` keeps the contents. */
typedef uint64_t (*tm_id_hash)(const void *owner, uint64_t id);

typedef struct tm_slots {
    void *slots;       /* owned; uint32_t or, in a set of words, uint64_t: 0 is empty */
    uint32_t capacity; /* a power of two, or 0 */
    uint32_t mask;     /* capacity - 1, for searches */
} tm_slots;

typedef struct tm_idset {
    tm_slots now;
    tm_slots old; /* not NULL only while the set grows */
    uint32_t count;
    uint32_t start;      /* first old slot to be moved; the one before it was empty */
    uint32_t moved;      /* old slots moved since then */
    uint8_t percent_max; /* load limit in per cent of the slots; 0: four fifths */
    bool has_words;      /* slots have eight bytes */
    bool is_whole;       /* there are slots, and no old ones */
} tm_idset;

/* Make room for `more` ids. On TM_NO_MEMORY the contents have not changed. */
int tm_idset_reserve_more(tm_idset *set, tm_memory *memory, tm_heat heat, tm_id_hash hash_of, const void *owner,
                          uint32_t more);
/* Make room for one more id: tm_idset_reserve_more with 1. */
int tm_idset_reserve(tm_idset *set, tm_memory *memory, tm_heat heat, tm_id_hash hash_of, const void *owner);

/* Insert an id that is not in the set; cannot fail after tm_idset_reserve. */
void tm_idset_insert(tm_idset *set, uint64_t hash, uint64_t id);

/* Remove an id that is in the set. */
void tm_idset_remove(tm_idset *set, uint64_t hash, uint64_t id, tm_id_hash hash_of, const void *owner);

/* Count the probes of one search for each id. */
void tm_idset_probes(const tm_idset *set, tm_id_hash hash_of, const void *owner, tm_probes *probes);

/* true if every id is found under its hash and their number is right */
bool tm_idset_is_sound(const tm_idset *set, tm_id_hash hash_of, const void *owner);

/* Empty the set and free its memory; its kind stays. */
void tm_idset_free(tm_idset *set, tm_memory *memory, tm_heat heat);

/* The state of a search. Start it, then call next until it returns 0; the caller compares contents. */
typedef struct tm_idset_search {
    const void *slots; /* borrowed from the set until it changes */
    uint32_t mask;
    uint32_t at;
} tm_idset_search;

/* Slots to search in an empty set: one empty slot. */
extern const tm_slots tm_idset_nothing;

/* true if the place of a key with this hash is among the old slots */
static inline bool tm_idset_is_in_old(const tm_idset *set, uint64_t hash) {
    uint32_t passed = ((uint32_t)hash - set->start) & set->old.mask;
    return set->old.slots != NULL && passed >= set->moved;
}

/* Return the slots to search for a key with this hash, in a set that is empty or grows. Inline, because a call would
 * cost the loops around a search their registers. */
static inline const tm_slots *tm_idset_part(const tm_idset *set, uint64_t hash) {
    const tm_slots *slots = tm_idset_is_in_old(set, hash) ? &set->old : &set->now;
    return slots->slots == NULL ? &tm_idset_nothing : slots;
}

static inline tm_idset_search tm_idset_start(const tm_idset *set, uint64_t hash) {
    const tm_slots *slots = __builtin_expect(set->is_whole, 1) ? &set->now : tm_idset_part(set, hash);
    return (tm_idset_search){slots->slots, slots->mask, (uint32_t)hash & slots->mask};
}

static inline uint32_t tm_idset_next(tm_idset_search *search) {
    uint32_t id = ((const uint32_t *)search->slots)[search->at];
    search->at = (search->at + 1) & search->mask;
    return id;
}

/* Return the next word of a search in a set of words; 0: there is none. */
static inline uint64_t tm_idset_next_word(tm_idset_search *search) {
    uint64_t word = ((const uint64_t *)search->slots)[search->at];
    search->at = (search->at + 1) & search->mask;
    return word;
}

#endif
