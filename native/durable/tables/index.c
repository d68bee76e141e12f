/* index.c - see index.h. */
#include "durable/tables/index.h"

#include <string.h>

#include "base/grow.h"

static void compact(tm_index *index) {
    uint32_t to = 0;
    uint32_t fresh = 0;
    for (uint32_t at = index->first; at < index->end; at++) {
        fresh += at < index->fresh && index->rows[at].state != ROW_LEFT;
        if (index->rows[at].state != ROW_LEFT) {
            if (index->keys != NULL) {
                index->keys[to] = index->keys[at];
            }
            index->rows[to++] = index->rows[at];
        }
    }
    index->first = 0;
    index->end = to;
    index->left = 0;
    index->fresh = fresh;
}

static bool reserve_row(tm_index *index, tm_memory *memory) {
    if (index->end < index->capacity) {
        return true;
    }
    if (index->first + index->left > index->capacity / 2) {
        compact(index);
        return true;
    }
    return tm_grow(memory, TM_COLD, &index->rows, sizeof *index->rows, &index->capacity, index->end + 1);
}

bool tm_index_reserve(tm_index *index, tm_memory *memory, bool has_keys) {
    if (!reserve_row(index, memory)) {
        return false;
    }
    return (!has_keys && index->keys == NULL) ||
           tm_grow(memory, TM_COLD, &index->keys, sizeof *index->keys, &index->key_capacity, index->capacity);
}

void tm_index_append(tm_index *index, const tm_stored_row *row, const tm_stored_keys *keys) {
    if (index->keys != NULL) {
        index->keys[index->end] = keys != NULL ? *keys : (tm_stored_keys){0};
    }
    index->rows[index->end++] = *row;
}

const tm_stored_keys *tm_index_keys(const tm_index *index, const tm_stored_row *row) {
    static const tm_stored_keys none;
    return index->keys != NULL ? &index->keys[row - index->rows] : &none;
}

uint32_t tm_index_from(const tm_index *index, uint64_t n) {
    uint32_t low = index->first;
    uint32_t high = index->end;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (index->rows[middle].n < n) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

tm_stored_row *tm_index_find(const tm_index *index, uint64_t n) {
    uint32_t at = tm_index_from(index, n);
    bool is_there = at < index->end && index->rows[at].n == n && index->rows[at].state != ROW_LEFT;
    return is_there ? &index->rows[at] : NULL;
}

/* No row between the previous one and this one is open, so the range may begin behind the previous one; the log merges
 * ranges that touch. */
void tm_index_leave(tm_index *index, uint32_t at, uint64_t *first) {
    const tm_stored_row *before = at > index->first ? &index->rows[at - 1] : NULL;
    *first = before == NULL ? 0 : before->n + (before->state != ROW_LEFT);
    index->rows[at].state = ROW_LEFT;
    index->left++;
    while (index->first < index->end && index->rows[index->first].state == ROW_LEFT) {
        index->first++;
        index->left--;
    }
    index->fresh = index->fresh < index->first ? index->first : index->fresh;
    if (index->first == index->end) {
        index->first = index->end = index->fresh = 0;
    }
}

void tm_index_free(tm_index *index, tm_memory *memory) {
    TM_DELETE(memory, TM_COLD, index->rows, tm_stored_row, index->capacity);
    TM_DELETE(memory, TM_COLD, index->keys, tm_stored_keys, index->key_capacity);
    *index = (tm_index){0};
}

bool tm_index_is_sound(const tm_index *index) {
    uint32_t left = 0;
    for (uint32_t at = index->first; at < index->end; at++) {
        left += index->rows[at].state == ROW_LEFT;
        if (at > index->first && index->rows[at].n <= index->rows[at - 1].n) {
            return false;
        }
        if (at >= index->fresh && index->rows[at].attempt != STORED_NO_ATTEMPT) {
            return false;
        }
    }
    return left == index->left && index->first <= index->fresh && index->fresh <= index->end &&
           index->end <= index->capacity && (index->keys == NULL || index->end <= index->key_capacity);
}
