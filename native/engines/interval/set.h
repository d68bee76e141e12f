/* set.h - the filters of an elementary interval: a list of pointers or of bits, by utilisation (paper 003, 4.1.2).
 *
 * Law: a set of at least `dense_from` of all filters is a list of bits, one for each seat; a set of less than half of
 * that is a list of rising ids. Between the two a set keeps its form. The form is checked when an id is added or
 * removed. If memory runs out at a removal, a list keeps its form.
 */
#ifndef TM_INTERVAL_SET_H
#define TM_INTERVAL_SET_H

#include "base/bits.h"
#include "engines/interval/store.h"

#define TM_DENSE_WHOLE 100000U /* dense_from is a share of this: thousandths of a per cent */

typedef struct tm_interval_set {
    void *items; /* owned: uint32_t ids that rise, or uint64_t words; NULL while empty */
    uint32_t count;
    uint32_t capacity : 31; /* of ids, or words; words are all valid */
    uint32_t is_bits : 1;
} tm_interval_set;

/* What decides the form of sets: the threshold, and the number of filters in the structure. */
typedef struct tm_density {
    uint32_t from;
    uint32_t filters;
} tm_density;

static inline bool tm_density_is_dense(tm_density density, uint32_t count) {
    return (uint64_t)count * TM_DENSE_WHOLE >= (uint64_t)density.from * density.filters;
}
static inline bool tm_density_is_sparse(tm_density density, uint32_t count) {
    return (uint64_t)count * 2 * TM_DENSE_WHOLE < (uint64_t)density.from * density.filters;
}

/* Add `id`, which is not in the set; false if out of memory, then nothing changed. */
bool tm_set_add(tm_interval_set *set, tm_interval_store *store, uint32_t id, tm_density density);
/* Remove `id`, which is in the set. */
void tm_set_remove(tm_interval_set *set, tm_interval_store *store, uint32_t id, tm_density density);
/* Copy a set to `out`, which is empty; false if out of memory. */
bool tm_set_copy(const tm_interval_set *set, tm_interval_store *store, tm_interval_set *out);
void tm_set_free(tm_interval_set *set, tm_interval_store *store);

static inline const uint32_t *tm_set_ids(const tm_interval_set *set) {
    return set->items;
}
static inline const uint64_t *tm_set_words(const tm_interval_set *set) {
    return set->items;
}
/* Return the index of the first id of a rising list that is not below `id`. */
uint32_t tm_ids_find(const uint32_t *ids, uint32_t count, uint32_t id);
static inline bool tm_set_has(const tm_interval_set *set, uint32_t id) {
    if (set->is_bits) {
        return id / 64 < set->capacity && tm_bit_at(tm_set_words(set), id);
    }
    uint32_t place = tm_ids_find(tm_set_ids(set), set->count, id);
    return place < set->count && tm_set_ids(set)[place] == id;
}
/* Return word `index` of a list of bits: 0 past its end. */
static inline uint64_t tm_set_word(const tm_interval_set *set, uint32_t index) {
    return index < set->capacity ? tm_set_words(set)[index] : 0;
}

/* Return the most bytes that are written when an id is added or removed: those after it, or all where the form or the
 * room changes. `is_last`: the new id is above all others. */
#define TM_SET_BIT_BYTES 64U /* a bit costs a cache line */
static inline uint64_t tm_set_add_bytes(const tm_interval_set *set, tm_density density, bool is_last) {
    uint64_t ids = (uint64_t)set->count * sizeof(uint32_t);
    if (set->is_bits) {
        return TM_SET_BIT_BYTES;
    }
    if (tm_density_is_dense(density, set->count + 1)) {
        return ids + density.filters / 8;
    }
    return is_last && set->count < set->capacity ? TM_SET_BIT_BYTES : ids + TM_SET_BIT_BYTES;
}
static inline uint64_t tm_set_remove_bytes(const tm_interval_set *set, tm_density density) {
    uint64_t ids = (uint64_t)set->count * sizeof(uint32_t);
    if (!set->is_bits) {
        return ids;
    }
    bool is_changed = tm_density_is_sparse(density, set->count - 1);
    return is_changed ? ids + (uint64_t)set->capacity * sizeof(uint64_t) : TM_SET_BIT_BYTES;
}

bool tm_set_equals(const tm_interval_set *a, const tm_interval_set *b);

#endif
