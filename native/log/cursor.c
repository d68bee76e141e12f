/* cursor.c - see cursor.h. */
#include "log/cursor.h"

#ifdef TM_TESTED
#define STRETCH 3U /* small, so that rows of tests have several */
#else
#define STRETCH 4096U /* references of a row that are read at once */
#endif

/* Update the row: its segment may have been sealed or extended since. */
static void refresh(const tm_segment *segment, tm_row *row) {
    tm_row_walk walk = tm_segment_rows_of(segment, (tm_claim){row->holder, row->role});
    const tm_row *now;
    while ((now = tm_segment_next_row(&walk)) != NULL) {
        if (now->high == row->high) {
            *row = *now;
            return;
        }
    }
}

/* ---- position ---- */

uint64_t tm_row_cursor_n(const tm_row_cursor *cursor, uint64_t after) {
    if (cursor->at < cursor->count) {
        return tm_row_n(&cursor->row, cursor->references[cursor->at].low);
    }
    if (!cursor->is_begun) {
        uint64_t least = tm_row_n(&cursor->row, cursor->row.low_min);
        return least > after ? least : after + 1;
    }
    return cursor->next < cursor->row.count ? cursor->last_n + 1 : UINT64_MAX;
}

void tm_row_cursor_pass(tm_row_cursor *cursor, uint64_t n) {
    while (cursor->at < cursor->count && tm_row_n(&cursor->row, cursor->references[cursor->at].low) <= n) {
        cursor->at++;
    }
}

/* ---- stretches ---- */

/* Reserve room for `count` references; the caller holds `state`. false: no memory. */
static bool has_room(tm_store *store, tm_row_cursor *cursor, uint32_t count) {
    if (count > cursor->room) {
        tm_row_cursor_free(store, cursor);
        cursor->references = TM_NEW(&store->memory, TM_COLD, tm_reference, count);
        cursor->room = cursor->references != NULL ? count : 0;
    }
    return cursor->references != NULL || count == 0;
}

/* Find the first posting of a sealed row whose number is past `after`; false: the disk cannot be read. */
static bool find_in_footer(tm_store *store, const tm_row_cursor *cursor, uint64_t after, uint32_t *first) {
    uint32_t low = 0;
    for (uint32_t high = cursor->row.count; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        tm_reference reference;
        if (!tm_segment_references(cursor->segment, store->disk, &cursor->row, middle, 1, &reference)) {
            return false;
        }
        if (tm_row_n(&cursor->row, reference.low) <= after) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *first = low;
    return true;
}

static int read_stretch(tm_store *store, tm_row_cursor *cursor, uint64_t after) {
    uint32_t first = cursor->next;
    bool is_later = tm_row_n(&cursor->row, cursor->row.low_min) <= after && !cursor->is_begun;
    if (is_later && !find_in_footer(store, cursor, after, &first)) {
        return TM_LOG_DISK;
    }
    uint32_t count = cursor->row.count - first < STRETCH ? cursor->row.count - first : STRETCH;
    if (!tm_segment_references(cursor->segment, store->disk, &cursor->row, first, count, cursor->references)) {
        return TM_LOG_DISK;
    }
    cursor->count = count;
    cursor->next = first + count;
    return TM_OK;
}

/* Find the postings of the next stretch of a row whose index is in memory; the caller holds `state`. */
static void find_in_memory(const tm_row_cursor *cursor, uint64_t after, uint32_t *first, uint32_t *count) {
    *first = 0;
    *count = cursor->row.count;
    if (!cursor->segment->is_mixed) {
        uint32_t newer = tm_segment_newer(cursor->segment, &cursor->row, after);
        *first = cursor->row.count - newer;
        *count = newer < STRETCH ? newer : STRETCH;
    }
}

int tm_row_cursor_fill(tm_store *store, tm_row_cursor *cursor, uint64_t after) {
    after = cursor->last_n > after ? cursor->last_n : after;
    pthread_mutex_lock(&store->state);
    refresh(cursor->segment, &cursor->row);
    bool is_sealed = cursor->segment->state == SEGMENT_SEALED;
    uint32_t first = 0;
    uint32_t wanted = cursor->row.count < STRETCH ? cursor->row.count : STRETCH;
    if (!is_sealed) {
        find_in_memory(cursor, after, &first, &wanted);
    }
    bool has_memory = has_room(store, cursor, wanted);
    cursor->at = cursor->count = 0;
    if (has_memory && !is_sealed) {
        tm_segment_references(cursor->segment, store->disk, &cursor->row, first, wanted, cursor->references);
        cursor->count = wanted;
        cursor->next = first + wanted;
    }
    pthread_mutex_unlock(&store->state);
    int result = !has_memory ? TM_NO_MEMORY : is_sealed ? read_stretch(store, cursor, after) : TM_OK;
    if (result == TM_OK) {
        cursor->is_begun = true;
        cursor->last_n =
            cursor->count > 0 ? tm_row_n(&cursor->row, cursor->references[cursor->count - 1].low) : cursor->last_n;
        tm_row_cursor_pass(cursor, after);
    }
    return result;
}

void tm_row_cursor_free(tm_store *store, tm_row_cursor *cursor) {
    if (cursor->references != NULL) {
        TM_DELETE(&store->memory, TM_COLD, cursor->references, tm_reference, cursor->room);
    }
    cursor->references = NULL;
    cursor->room = 0;
}
