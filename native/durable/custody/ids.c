/* ids.c - see ids.h. */
#include "durable/custody/ids.h"

#include "base/grow.h"
#include "base/hash.h"

static uint64_t hash_of_id(const tm_custody_ids *ids, uint64_t origin, uint64_t counter) {
    return tm_hash_words(origin, counter, 0, &ids->memory->key);
}

static uint64_t hash_of(const void *owner, uint64_t id) {
    const tm_custody_ids *ids = owner;
    return hash_of_id(ids, ids->rows[id - 1].origin, ids->rows[id - 1].counter);
}

bool tm_custody_ids_has(const tm_custody_ids *ids, uint64_t origin, uint64_t counter) {
    if (ids->count == 0) {
        return false;
    }
    tm_idset_search search = tm_idset_start(&ids->set, hash_of_id(ids, origin, counter));
    for (uint32_t id; (id = tm_idset_next(&search)) != 0;) {
        if (ids->rows[id - 1].origin == origin && ids->rows[id - 1].counter == counter) {
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
    return tm_idset_reserve(&ids->set, ids->memory, TM_COLD, hash_of, ids) == TM_OK && reserve_row(ids);
}

void tm_custody_ids_note(tm_custody_ids *ids, uint64_t origin, uint64_t counter) {
    if (!tm_custody_ids_reserve(ids)) {
        return;
    }
    uint32_t row = ids->next;
    if (ids->count == CUSTODY_IDS_MAX) {
        tm_idset_remove(&ids->set, hash_of(ids, row + 1), row + 1, hash_of, ids);
    } else {
        ids->count++;
    }
    ids->rows[row] = (tm_custody_id){origin, counter};
    tm_idset_insert(&ids->set, hash_of_id(ids, origin, counter), row + 1);
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
