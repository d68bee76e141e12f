/* idset.h - a hash set of dense ids, or of words of eight bytes, whose contents live elsewhere.
 *
 * Law: an id is findable under exactly the hash it was inserted with. Probing is linear, removal shifts back, so there
 * are no tombstones and the load never passes the set's limit. Id 0 means "none" everywhere in native/ and is never
 * held. No call takes long, however many ids there are: a full set gets new slots, and every tm_idset_reserve from then
 * on moves the ids of a few old slots, in the order in which they stand:
 *
 *     old   |.......|#########|      a key whose home among the old slots has been passed is among the new ones,
 *           ^start  ^+ moved         any other among the old ones: a search looks at one of the two, never at both
 *     new   |####...........|####...........|      twice as many; only what has ids in it is ever touched
 */
#ifndef TM_IDSET_H
#define TM_IDSET_H

#include "base/memory.h"
#include "tm.h"

/* The hash of what `id`, an id or a word, stands for; `owner` keeps the contents. */
typedef uint64_t (*tm_id_hash)(const void *owner, uint64_t id);

typedef struct tm_slots {
    void *slots;       /* owned; uint32_t or, in a set of words, uint64_t: 0 is empty */
    uint32_t capacity; /* a power of two, or 0 */
    uint32_t mask;     /* capacity - 1, for searches */
} tm_slots;

typedef struct tm_idset {
    tm_slots now;
    tm_slots old; /* NULL but while the set grows */
    uint32_t count;
    uint32_t start;      /* the old slot that was moved first; an empty one stood before it */
    uint32_t moved;      /* old slots passed since then */
    uint8_t percent_max; /* load, in per cent of the slots; 0: four fifths */
    bool has_words;      /* slots of eight bytes */
    bool is_whole;       /* there are slots, and no old ones */
} tm_idset;

/* Make room for `more` ids. On TM_NO_MEMORY nothing that can be seen has changed. */
int tm_idset_reserve_more(tm_idset *set, tm_memory *memory, tm_heat heat, tm_id_hash hash_of, const void *owner,
                          uint32_t more);
/* Make room for one more id: tm_idset_reserve_more with 1. */
int tm_idset_reserve(tm_idset *set, tm_memory *memory, tm_heat heat, tm_id_hash hash_of, const void *owner);

/* Cannot fail after tm_idset_reserve; `id` must not be in the set. */
void tm_idset_insert(tm_idset *set, uint64_t hash, uint64_t id);

/* `id` must be in the set. */
void tm_idset_remove(tm_idset *set, uint64_t hash, uint64_t id, tm_id_hash hash_of, const void *owner);

/* One search for each id. */
void tm_idset_probes(const tm_idset *set, tm_id_hash hash_of, const void *owner, tm_probes *probes);

/* Is every id found under its hash, and are they as many as are counted? */
bool tm_idset_is_sound(const tm_idset *set, tm_id_hash hash_of, const void *owner);

/* Empty the set; its kind stays. */
void tm_idset_free(tm_idset *set, tm_memory *memory, tm_heat heat);

/* Where a search is. Start it, then call next until it returns 0; the caller compares contents. */
typedef struct tm_idset_search {
    const void *slots; /* borrowed from the set until that changes */
    uint32_t mask;
    uint32_t at;
} tm_idset_search;

/* What is searched in an empty set: one empty slot. */
extern const tm_slots tm_idset_nothing;

/* Is a key with this hash among the old slots, or does it go there? */
static inline bool tm_idset_is_in_old(const tm_idset *set, uint64_t hash) {
    uint32_t passed = ((uint32_t)hash - set->start) & set->old.mask;
    return set->old.slots != NULL && passed >= set->moved;
}

/* Where a key with this hash is searched, in a set that is empty or grows. Without a call, which would cost the loops
 * around a search their registers. */
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

/* The next word of a search in a set of words; 0: there is none. */
static inline uint64_t tm_idset_next_word(tm_idset_search *search) {
    uint64_t word = ((const uint64_t *)search->slots)[search->at];
    search->at = (search->at + 1) & search->mask;
    return word;
}

#endif
