/* ids.c - see ids.h. */
#include "durable/custody/ids.h"

#include "base/grow.h"
#include "base/hash.h"

#define WORDS_OF_LINE 8U

/* Ids of one origin with consecutive counters stand side by side, so that a line of the cache serves eight of them. */
static uint64_t hash_of_id(const tm_custody_ids *ids, uint64_t origin, uint64_t counter) {
    return tm_hash_words(origin, counter / WORDS_OF_LINE, 0, &ids->memory->key) * WORDS_OF_LINE +
           counter % WORDS_OF_LINE;
}

/* Return the word of a row: half of its hash, which the set needs all of, and the row + 1. So a search reads a row only
 * if it is the right one, but for one in four billion, and a removal reads none. */
static uint64_t word_of(uint64_t hash, uint32_t row) {
    return hash << 32 | (row + 1);
}

static uint64_t hash_of(const void *owner, uint64_t word) {
    (void)owner;
    return word >> 32;
}

bool tm_custody_ids_has(const tm_custody_ids *ids, uint64_t origin, uint64_t counter) {
    if (ids->count == 0) {
        return false;
    }
    uint64_t hash = hash_of_id(ids, origin, counter);
    tm_idset_search search = tm_idset_start(&ids->set, hash);
    for (uint64_t word; (word = tm_idset_next_word(&search)) != 0;) {
        const tm_custody_id *id = &ids->rows[(uint32_t)word - 1];
        if (hash_of(ids, word) == (uint32_t)hash && id->origin == origin && id->counter == counter) {
            return true;
        }
    }
    return false;
}

/* Grow the rows to at most CUSTODY_IDS_MAX; false: no memory. */
static bool reserve_row(tm_custody_ids *ids) {
    if (ids->count < ids->capacity || ids->count == CUSTODY_IDS_MAX) {
        return true;
    }
    uint32_t capacity = tm_next_capacity(ids->capacity, sizeof *ids->rows);
    capacity = capacity < CUSTODY_IDS_MAX ? capacity : CUSTODY_IDS_MAX;
    tm_custody_id *rows = TM_RESIZE(ids->memory, TM_COLD, ids->rows, tm_custody_id, ids->capacity, capacity);
    if (rows == NULL) {
        return false;
    }
    ids->rows = rows;
    ids->capacity = capacity;
    return true;
}

bool tm_custody_ids_reserve(tm_custody_ids *ids) {
    ids->set.has_words = true;
    return tm_idset_reserve(&ids->set, ids->memory, TM_COLD, hash_of, ids) == TM_OK && reserve_row(ids);
}

void tm_custody_ids_note(tm_custody_ids *ids, uint64_t origin, uint64_t counter) {
    if (!tm_custody_ids_reserve(ids)) {
        return;
    }
    uint32_t row = ids->next;
    if (ids->count == CUSTODY_IDS_MAX) {
        uint64_t oldest = hash_of_id(ids, ids->rows[row].origin, ids->rows[row].counter);
        tm_idset_remove(&ids->set, oldest, word_of(oldest, row), hash_of, ids);
    } else {
        ids->count++;
    }
    uint64_t hash = hash_of_id(ids, origin, counter);
    ids->rows[row] = (tm_custody_id){origin, counter};
    tm_idset_insert(&ids->set, hash, word_of(hash, row));
    ids->next = (row + 1) % CUSTODY_IDS_MAX;
}

void tm_custody_ids_free(tm_custody_ids *ids) {
    TM_DELETE(ids->memory, TM_COLD, ids->rows, tm_custody_id, ids->capacity);
    tm_idset_free(&ids->set, ids->memory, TM_COLD);
}

bool tm_custody_ids_are_sound(const tm_custody_ids *ids) {
    return ids->set.count == ids->count && ids->count <= CUSTODY_IDS_MAX &&
           (ids->count == 0 || tm_idset_is_sound(&ids->set, hash_of, ids));
}
