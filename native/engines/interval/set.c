/* set.c - adds and removes ids of a set, and changes its form. Law: see set.h. */
#include <string.h>

#include "engines/interval/set.h"

static size_t bytes_of(const tm_interval_set *set) {
    return (set->is_bits ? sizeof(uint64_t) : sizeof(uint32_t)) * (size_t)set->capacity;
}

void tm_set_free(tm_interval_set *set, tm_interval_store *store) {
    tm_store_free(store, set->items, bytes_of(set));
    *set = (tm_interval_set){0};
}

uint32_t tm_ids_find(const uint32_t *ids, uint32_t count, uint32_t id) {
    uint32_t low = 0;
    while (low < count) {
        uint32_t middle = low + (count - low) / 2;
        if (ids[middle] < id) {
            low = middle + 1;
        } else {
            count = middle;
        }
    }
    return low;
}

/* ---- change of form ---- */

static bool to_bits(tm_interval_set *set, tm_interval_store *store, uint32_t last) {
    tm_interval_set bits = {.count = set->count, .is_bits = 1};
    uint32_t words = 0;
    uint64_t *items = NULL;
    if (!tm_store_grow(store, &items, sizeof *items, &words, last / 64 + 1)) {
        return false;
    }
    for (uint32_t i = 0; i < set->count; i++) {
        tm_bit_set(items, tm_set_ids(set)[i]);
    }
    bits.items = items;
    bits.capacity = words & 0x7fffffffU;
    tm_set_free(set, store);
    *set = bits;
    return true;
}

static void to_ids(tm_interval_set *set, tm_interval_store *store) {
    uint32_t *items = NULL;
    uint32_t capacity = 0;
    uint32_t count = 0;
    if (!tm_store_grow(store, &items, sizeof *items, &capacity, set->count)) {
        return;
    }
    for (uint32_t index = 0; index < set->capacity; index++) {
        for (uint64_t word = tm_set_words(set)[index]; word != 0; word &= word - 1) {
            items[count++] = index * 64 + (uint32_t)__builtin_ctzll(word);
        }
    }
    tm_set_free(set, store);
    *set = (tm_interval_set){.items = items, .count = count, .capacity = capacity & 0x7fffffffU};
}

/* ---- changes ---- */

static bool reserve(tm_interval_set *set, tm_interval_store *store, uint32_t wanted) {
    uint32_t capacity = set->capacity;
    size_t size = set->is_bits ? sizeof(uint64_t) : sizeof(uint32_t);
    bool is_done = tm_store_grow(store, &set->items, size, &capacity, wanted);
    set->capacity = capacity & 0x7fffffffU;
    return is_done;
}

static bool add_to_ids(tm_interval_set *set, tm_interval_store *store, uint32_t id) {
    if (!reserve(set, store, set->count + 1)) {
        return false;
    }
    uint32_t *ids = set->items;
    uint32_t place = tm_ids_find(ids, set->count, id);
    memmove(&ids[place + 1], &ids[place], sizeof *ids * (set->count - place));
    ids[place] = id;
    set->count++;
    return true;
}

bool tm_set_add(tm_interval_set *set, tm_interval_store *store, uint32_t id, tm_density density) {
    if (!set->is_bits && tm_density_is_dense(density, set->count + 1)) {
        uint32_t last = set->count > 0 ? tm_set_ids(set)[set->count - 1] : id;
        if (!to_bits(set, store, last > id ? last : id)) {
            return false;
        }
    }
    if (!set->is_bits) {
        return add_to_ids(set, store, id);
    }
    if (!reserve(set, store, id / 64 + 1)) {
        return false;
    }
    tm_bit_set(set->items, id);
    set->count++;
    return true;
}

void tm_set_remove(tm_interval_set *set, tm_interval_store *store, uint32_t id, tm_density density) {
    if (set->count == 1) {
        tm_set_free(set, store);
        return;
    }
    set->count--;
    if (set->is_bits) {
        tm_bit_clear(set->items, id);
        if (tm_density_is_sparse(density, set->count)) {
            to_ids(set, store);
        }
        return;
    }
    uint32_t *ids = set->items;
    uint32_t place = tm_ids_find(ids, set->count + 1, id);
    memmove(&ids[place], &ids[place + 1], sizeof *ids * (set->count - place));
    uint32_t capacity = set->capacity;
    tm_store_shrink(store, &set->items, sizeof *ids, &capacity, set->count);
    set->capacity = capacity & 0x7fffffffU;
}

bool tm_set_copy(const tm_interval_set *set, tm_interval_store *store, tm_interval_set *out) {
    *out = *set;
    if (set->items == NULL) {
        return true;
    }
    out->items = tm_store_new(store, bytes_of(set));
    if (out->items == NULL) {
        *out = (tm_interval_set){0};
        return false;
    }
    memcpy(out->items, set->items, bytes_of(set));
    return true;
}

bool tm_set_equals(const tm_interval_set *a, const tm_interval_set *b) {
    if (a->count != b->count) {
        return false;
    }
    const tm_interval_set *list = a->is_bits ? b : a;
    const tm_interval_set *other = a->is_bits ? a : b;
    if (!list->is_bits) {
        for (uint32_t i = 0; i < list->count; i++) {
            if (!tm_set_has(other, tm_set_ids(list)[i])) {
                return false;
            }
        }
        return true;
    }
    uint32_t words = a->capacity > b->capacity ? a->capacity : b->capacity;
    for (uint32_t index = 0; index < words; index++) {
        if (tm_set_word(a, index) != tm_set_word(b, index)) {
            return false;
        }
    }
    return true;
}
