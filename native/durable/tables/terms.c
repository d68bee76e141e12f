/* terms.c - see terms.h. */
#include "durable/tables/terms.h"

#include <string.h>

/* Return a policy without its names, as bytes that are equal for equal policies. */
static tm_keep_terms without_names(const tm_keep_terms *terms) {
    tm_keep_terms plain;
    memcpy(&plain, terms, sizeof plain); /* including the padding */
    plain.order_by = plain.latest_by = NULL;
    return plain;
}

static uint64_t hash_of(const tm_all_terms *all, const tm_keep_terms *terms) {
    const tm_hash_key *key = &all->memory->key;
    tm_keep_terms plain = without_names(terms);
    uint64_t order_by = tm_hash_text(terms->order_by, terms->order_by_size, key);
    uint64_t latest_by = tm_hash_text(terms->latest_by, terms->latest_by_size, key);
    return tm_hash_words(tm_hash_text((const uint8_t *)&plain, sizeof plain, key), order_by, latest_by, key);
}

static bool is_name(const uint8_t *name, const uint8_t *other, uint32_t size) {
    return size == 0 || memcmp(name, other, size) == 0;
}

static bool are_equal(const tm_keep_terms *terms, const tm_keep_terms *others) {
    tm_keep_terms plain = without_names(terms);
    tm_keep_terms other = without_names(others);
    return memcmp(&plain, &other, sizeof plain) == 0 &&
           is_name(terms->order_by, others->order_by, plain.order_by_size) &&
           is_name(terms->latest_by, others->latest_by, plain.latest_by_size);
}

static size_t row_bytes(const tm_keep_terms *terms) {
    return sizeof(tm_shared_terms) + terms->order_by_size + terms->latest_by_size;
}

static tm_shared_terms *new_row(tm_all_terms *all, const tm_keep_terms *terms, uint64_t hash) {
    tm_shared_terms *row = tm_alloc_counted(all->memory, TM_COLD, row_bytes(terms));
    if (row == NULL) {
        return NULL;
    }
    uint8_t *names = (uint8_t *)(row + 1);
    memcpy(&row->terms, terms, sizeof row->terms);
    row->terms.order_by = names;
    row->terms.latest_by = names + terms->order_by_size;
    if (terms->order_by_size > 0) {
        memcpy(names, terms->order_by, terms->order_by_size);
    }
    if (terms->latest_by_size > 0) {
        memcpy(names + terms->order_by_size, terms->latest_by, terms->latest_by_size);
    }
    row->hash = hash;
    row->next = all->buckets[hash % TERMS_BUCKETS];
    all->buckets[hash % TERMS_BUCKETS] = row;
    return row;
}

const tm_keep_terms *tm_terms_take(tm_all_terms *all, const tm_keep_terms *terms) {
    uint64_t hash = hash_of(all, terms);
    tm_shared_terms *row = all->buckets[hash % TERMS_BUCKETS];
    while (row != NULL && (row->hash != hash || !are_equal(&row->terms, terms))) {
        row = row->next;
    }
    row = row != NULL ? row : new_row(all, terms, hash);
    if (row == NULL) {
        return NULL;
    }
    row->keeps++;
    return &row->terms;
}

void tm_terms_drop(tm_all_terms *all, const tm_keep_terms *terms) {
    if (terms == NULL) {
        return;
    }
    tm_shared_terms *row = (tm_shared_terms *)(uintptr_t)terms;
    if (--row->keeps > 0) {
        return;
    }
    tm_shared_terms **at = &all->buckets[row->hash % TERMS_BUCKETS];
    while (*at != row) {
        at = &(*at)->next;
    }
    *at = row->next;
    tm_free_counted(all->memory, TM_COLD, row, row_bytes(terms));
}
