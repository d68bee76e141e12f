/* reached.c - see reached.h. */
#include "network/reached.h"

#include "base/grow.h"
#include "base/hash.h"

static uint64_t hash_of_row(const tm_reached *reached, const tm_reached_row *row) {
    return tm_hash_u64(row->source ^ tm_hash_u64(row->root, &reached->memory->key), &reached->memory->key);
}

static uint64_t hash_of(const void *owner, uint64_t id) {
    const tm_reached *reached = owner;
    return hash_of_row(reached, &reached->rows[id - 1]);
}

/* Return the row of the source and the tree of `message`, valid until the next note; NULL: there is none. */
static tm_reached_row *find(const tm_reached *reached, const tm_reached_row *message) {
    tm_idset_search at = tm_idset_start(&reached->set, hash_of_row(reached, message));
    for (uint32_t id; (id = tm_idset_next(&at)) != 0;) {
        tm_reached_row *row = &reached->rows[id - 1];
        if (row->source == message->source && row->root == message->root) {
            return row;
        }
    }
    return NULL;
}

static bool is_reached(const tm_reached_row *row, const tm_reached_row *message) {
    return message->epoch < row->epoch || (message->epoch == row->epoch && message->counter <= row->counter);
}

static bool make_room(tm_reached *reached) {
    if (tm_idset_reserve(&reached->set, reached->memory, TM_COLD, hash_of, reached) != TM_OK) {
        return false;
    }
    if (reached->count < reached->capacity) {
        return true;
    }
    uint32_t capacity = tm_next_capacity(reached->capacity, sizeof *reached->rows);
    capacity = capacity < REACHED_MAX ? capacity : REACHED_MAX;
    tm_reached_row *rows =
        TM_RESIZE(reached->memory, TM_COLD, reached->rows, tm_reached_row, reached->capacity, capacity);
    if (rows == NULL) {
        return false;
    }
    reached->rows = rows;
    reached->capacity = capacity;
    return true;
}

void tm_reached_init(tm_reached *reached, tm_memory *memory) {
    *reached = (tm_reached){.memory = memory};
}

void tm_reached_clear(tm_reached *reached) {
    TM_DELETE(reached->memory, TM_COLD, reached->rows, tm_reached_row, reached->capacity);
    tm_idset_free(&reached->set, reached->memory, TM_COLD);
    tm_reached_init(reached, reached->memory);
}

void tm_reached_note(tm_reached *reached, const tm_reached_row *message) {
    tm_reached_row *row = find(reached, message);
    if (row != NULL) {
        *row = is_reached(row, message) ? *row : *message;
    } else if (reached->count < REACHED_MAX && make_room(reached)) {
        reached->rows[reached->count++] = *message;
        tm_idset_insert(&reached->set, hash_of_row(reached, message), reached->count);
    }
}

bool tm_reached_has(const tm_reached *reached, const tm_reached_row *message) {
    const tm_reached_row *row = find(reached, message);
    return row != NULL && is_reached(row, message);
}

bool tm_reached_is_sound(const tm_reached *reached) {
    return reached->count <= reached->capacity && reached->capacity <= REACHED_MAX &&
           reached->set.count == reached->count && tm_idset_is_sound(&reached->set, hash_of, reached);
}
