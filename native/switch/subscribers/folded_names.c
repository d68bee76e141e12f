/* folded_names.c - see folded_names.h. */
#include "switch/subscribers/folded_names.h"

#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "model/msgpack.h"

#define OPERAND_DEPTH_MAX 1U

void tm_folded_names_init(tm_folded_names *names, tm_memory *memory) {
    *names = (tm_folded_names){.memory = memory};
}

void tm_folded_names_clear(tm_folded_names *names) {
    for (uint32_t row = 0; row < names->count; row++) {
        TM_DELETE(names->memory, TM_COLD, names->rows[row].marked, uint8_t, names->rows[row].length);
    }
    TM_DELETE(names->memory, TM_COLD, names->rows, tm_folded_name, names->capacity);
    tm_idset_free(&names->set, names->memory, TM_COLD);
    tm_folded_names_init(names, names->memory);
}

/* ---- one name ---- */

static uint64_t hash_of(const void *owner, uint64_t number) {
    const tm_folded_names *names = owner;
    const tm_folded_name *row = &names->rows[number - 1];
    return tm_hash_text(row->marked, row->length - 1, &names->memory->key);
}

uint32_t tm_folded_names_find(const tm_folded_names *names, const uint8_t *name, uint32_t length) {
    tm_idset_search at = tm_idset_start(&names->set, tm_hash_text(name, length, &names->memory->key));
    for (uint32_t number; (number = tm_idset_next(&at)) != 0;) {
        const tm_folded_name *row = tm_folded_names_at(names, number);
        if (row->length - 1 == length && memcmp(row->marked, name, length) == 0) {
            return number;
        }
    }
    return FOLDED_NONE;
}

/* Add a name without uses; returns its number, or FOLDED_NONE without memory. */
static uint32_t add_name(tm_folded_names *names, const uint8_t *marked, uint32_t length) {
    if ((names->free == 0 &&
         !tm_grow(names->memory, TM_COLD, &names->rows, sizeof *names->rows, &names->capacity, names->count + 1)) ||
        tm_idset_reserve(&names->set, names->memory, TM_COLD, hash_of, names) != TM_OK) {
        return FOLDED_NONE;
    }
    uint8_t *copy = TM_NEW(names->memory, TM_COLD, uint8_t, length);
    if (copy == NULL) {
        return FOLDED_NONE;
    }
    memcpy(copy, marked, length);
    uint32_t number = names->free != 0 ? names->free : ++names->count;
    tm_folded_name *row = &names->rows[number - 1];
    names->free = number == names->free ? row->next_free : names->free;
    *row = (tm_folded_name){.marked = copy, .length = length};
    tm_idset_insert(&names->set, hash_of(names, number), number);
    names->live++;
    names->version++;
    return number;
}

static void drop_use(tm_folded_names *names, uint32_t number) {
    tm_folded_name *row = &names->rows[number - 1];
    if (--row->uses > 0) {
        return;
    }
    tm_idset_remove(&names->set, hash_of(names, number), number, hash_of, names);
    TM_DELETE(names->memory, TM_COLD, row->marked, uint8_t, row->length);
    *row = (tm_folded_name){.next_free = names->free};
    names->free = number;
    names->live--;
    names->version++;
}

/* ---- the names of a filter ---- */

/* Read the next condition's name; false: it is not marked. */
static bool next_marked(tm_cursor *cursor, const uint8_t **name, uint32_t *length) {
    uint32_t parts;
    tm_read_array(cursor, &parts);
    tm_read_string(cursor, TM_NAME_BYTES_MAX, name, length);
    for (; parts > 1; parts--) {
        tm_skip(cursor, OPERAND_DEPTH_MAX);
    }
    return *length > 1 && (*name)[*length - 1] == FOLDED_MARK;
}

/* Drop a use of each marked name among the first `conditions` of a filter. */
static void drop_uses(tm_folded_names *names, tm_cursor cursor, uint32_t conditions) {
    const uint8_t *name;
    uint32_t length;
    for (; conditions > 0; conditions--) {
        if (next_marked(&cursor, &name, &length)) {
            drop_use(names, tm_folded_names_find(names, name, length - 1));
        }
    }
}

int tm_folded_names_add(tm_folded_names *names, const uint8_t *filter, uint32_t size) {
    tm_cursor cursor = {filter, filter + size};
    uint32_t conditions;
    tm_read_array(&cursor, &conditions);
    const tm_cursor first = cursor;
    const uint8_t *name;
    uint32_t length;
    for (uint32_t i = 0; i < conditions; i++) {
        if (!next_marked(&cursor, &name, &length)) {
            continue;
        }
        uint32_t number = tm_folded_names_find(names, name, length - 1);
        number = number != FOLDED_NONE ? number : add_name(names, name, length);
        if (number == FOLDED_NONE) {
            drop_uses(names, first, i);
            return TM_NO_MEMORY;
        }
        names->rows[number - 1].uses++;
    }
    return TM_OK;
}

void tm_folded_names_remove(tm_folded_names *names, const uint8_t *filter, uint32_t size) {
    tm_cursor cursor = {filter, filter + size};
    uint32_t conditions;
    tm_read_array(&cursor, &conditions);
    drop_uses(names, cursor, conditions);
}
