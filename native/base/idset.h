/* idset.h - a hash set of dense ids whose contents live elsewhere.
 *
 * Law: an id is findable under exactly the hash it was inserted with. Probing is linear, removal shifts back, so there
 * are no tombstones and the load never passes four fifths. Id 0 means "none" everywhere in native/ and is never held.
 */
#ifndef TM_IDSET_H
#define TM_IDSET_H

#include "base/memory.h"
#include "tm.h"

/* The hash of what `id` stands for; `owner` is whoever keeps the contents. */
typedef uint64_t (*tm_id_hash)(const void *owner, uint32_t id);

typedef struct tm_idset {
    uint32_t *slots; /* owned; 0 is empty */
    uint32_t capacity;
    uint32_t count;
} tm_idset;

/* Make room for one more id. On TM_NO_MEMORY the set is unchanged. */
int tm_idset_reserve(tm_idset *set, tm_memory *memory, tm_heat heat, tm_id_hash hash_of, const void *owner);

/* Cannot fail after tm_idset_reserve; `id` must not be in the set. */
void tm_idset_insert(tm_idset *set, uint64_t hash, uint32_t id);

/* `id` must be in the set. */
void tm_idset_remove(tm_idset *set, uint64_t hash, uint32_t id, tm_id_hash hash_of, const void *owner);

/* One search for each id. */
void tm_idset_probes(const tm_idset *set, tm_id_hash hash_of, const void *owner, tm_probes *probes);

void tm_idset_free(tm_idset *set, tm_memory *memory, tm_heat heat);

/* Candidates for a hash: start `at` from tm_idset_start, call next until it returns 0; the caller compares contents. */
static inline uint32_t tm_idset_start(const tm_idset *set, uint64_t hash) {
    return set->capacity == 0 ? 0 : (uint32_t)hash & (set->capacity - 1);
}

static inline uint32_t tm_idset_next(const tm_idset *set, uint32_t *at) {
    if (set->capacity == 0) {
        return 0;
    }
    uint32_t id = set->slots[*at];
    *at = (*at + 1) & (set->capacity - 1);
    return id;
}

#endif
