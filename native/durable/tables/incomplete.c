/* incomplete.c - see incomplete.h. */
#include "durable/tables/incomplete.h"

#include <string.h>

#include "base/grow.h"
#include "base/hash.h"

#define ROW_NONE UINT32_MAX

void tm_incompletes_init(tm_incompletes *all, tm_memory *memory) {
    *all = (tm_incompletes){.memory = memory, .free = ROW_NONE, .newest = ROW_NONE, .oldest = ROW_NONE};
}

void tm_incompletes_clear(tm_incompletes *all) {
    for (uint32_t row = 0; row < all->high; row++) {
        TM_DELETE(all->memory, TM_COLD, all->rows[row].durables, uint32_t, all->rows[row].count);
    }
    TM_DELETE(all->memory, TM_COLD, all->rows, tm_incomplete, all->capacity);
    tm_idset_free(&all->set, all->memory, TM_COLD);
    tm_incompletes_init(all, all->memory);
}

/* ---- by name ---- */

static uint64_t hash_of_name(const tm_incompletes *all, tm_message_name name) {
    return tm_hash_words(name.origin, name.counter, 0, &all->memory->key);
}

static uint64_t hash_of(const void *owner, uint64_t id) {
    const tm_incompletes *all = owner;
    return hash_of_name(all, all->rows[id - 1].name);
}

static uint32_t find(const tm_incompletes *all, tm_message_name name) {
    tm_idset_search search = tm_idset_start(&all->set, hash_of_name(all, name));
    for (uint32_t id; (id = tm_idset_next(&search)) != 0;) {
        const tm_incomplete *row = &all->rows[id - 1];
        if (row->name.origin == name.origin && row->name.counter == name.counter) {
            return id - 1;
        }
    }
    return ROW_NONE;
}

const tm_incomplete *tm_incompletes_find(const tm_incompletes *all, tm_message_name name) {
    uint32_t row = all->count > 0 ? find(all, name) : ROW_NONE;
    return row != ROW_NONE ? &all->rows[row] : NULL;
}

bool tm_incomplete_has(const tm_incomplete *message, uint32_t durable) {
    for (uint32_t i = 0; i < message->count; i++) {
        if (message->durables[i] == durable) {
            return true;
        }
    }
    return false;
}

/* ---- rows ---- */

/* Add the newest row, with a name; ROW_NONE: no memory. */
static uint32_t new_row(tm_incompletes *all, tm_message_name name) {
    if (tm_idset_reserve(&all->set, all->memory, TM_COLD, hash_of, all) != TM_OK ||
        (all->free == ROW_NONE &&
         !tm_grow(all->memory, TM_COLD, &all->rows, sizeof *all->rows, &all->capacity, all->high + 1))) {
        return ROW_NONE;
    }
    uint32_t row = all->free != ROW_NONE ? all->free : all->high++;
    all->free = all->free != ROW_NONE ? all->rows[row].older : ROW_NONE;
    all->rows[row] = (tm_incomplete){.name = name, .older = all->newest, .newer = ROW_NONE, .is_used = true};
    if (all->newest != ROW_NONE) {
        all->rows[all->newest].newer = row;
    } else {
        all->oldest = row;
    }
    all->newest = row;
    all->count++;
    all->bytes += INCOMPLETE_ROW_BYTES;
    tm_idset_insert(&all->set, hash_of_name(all, name), row + 1);
    return row;
}

static void remove_row(tm_incompletes *all, uint32_t row) {
    tm_incomplete *message = &all->rows[row];
    tm_idset_remove(&all->set, hash_of_name(all, message->name), row + 1, hash_of, all);
    if (message->newer != ROW_NONE) {
        all->rows[message->newer].older = message->older;
    } else {
        all->newest = message->older;
    }
    if (message->older != ROW_NONE) {
        all->rows[message->older].newer = message->newer;
    } else {
        all->oldest = message->newer;
    }
    all->count--;
    all->bytes -= INCOMPLETE_ROW_BYTES + message->count * (uint32_t)sizeof *message->durables;
    TM_DELETE(all->memory, TM_COLD, message->durables, uint32_t, message->count);
    *message = (tm_incomplete){.older = all->free};
    all->free = row;
}

bool tm_incompletes_note(tm_incompletes *all, tm_message_name name, const uint32_t *durables, uint32_t count) {
    uint32_t row = find(all, name);
    bool is_new = row == ROW_NONE;
    row = is_new ? new_row(all, name) : row;
    if (row == ROW_NONE) {
        return false;
    }
    tm_incomplete *message = &all->rows[row];
    uint32_t *grown = message->durables;
    if (count > 0) {
        grown = TM_RESIZE(all->memory, TM_COLD, message->durables, uint32_t, message->count, message->count + count);
    }
    if (count > 0 && grown == NULL) {
        if (is_new) {
            remove_row(all, row);
        }
        return false;
    }
    if (count > 0) {
        memcpy(grown + message->count, durables, count * sizeof *durables);
    }
    message->durables = grown;
    message->count += count;
    all->bytes += count * (uint32_t)sizeof *durables;
    return true;
}

void tm_incompletes_forget(tm_incompletes *all, tm_message_name name) {
    uint32_t row = all->count > 0 ? find(all, name) : ROW_NONE;
    if (row != ROW_NONE) {
        remove_row(all, row);
    }
}

bool tm_incompletes_dropped(tm_incompletes *all, tm_message_name *gone) {
    if (all->bytes <= INCOMPLETE_BYTES_MAX) {
        return false;
    }
    *gone = all->rows[all->oldest].name;
    remove_row(all, all->oldest);
    return true;
}

bool tm_incompletes_are_sound(const tm_incompletes *all) {
    uint32_t linked = 0;
    uint64_t bytes = 0;
    for (uint32_t row = all->newest; row != ROW_NONE; row = all->rows[row].older) {
        const tm_incomplete *message = &all->rows[row];
        if (++linked > all->count || !message->is_used || find(all, message->name) != row) {
            return false;
        }
        bytes += INCOMPLETE_ROW_BYTES + message->count * sizeof *message->durables;
    }
    return linked == all->count && bytes == all->bytes && bytes <= INCOMPLETE_BYTES_MAX &&
           tm_idset_is_sound(&all->set, hash_of, all);
}
