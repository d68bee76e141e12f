/* cursor.h - the numbers of one row of a segment, from some number on, a stretch at a time.
 *
 * Law: numbers come in order. Of a segment whose index is in memory a cursor copies the row as it is when it is filled;
 * of a sealed one it finds the first number in the footer, and reads on from there: what lies before costs nothing.
 */
#ifndef TM_LOG_CURSOR_H
#define TM_LOG_CURSOR_H

#include "log/store.h"

typedef struct tm_row_cursor {
    tm_segment *segment; /* pinned by who made the cursor */
    tm_row row;
    tm_reference *references; /* owned: the stretch at hand */
    uint32_t room;            /* of it */
    uint32_t count;
    uint32_t at;
    uint32_t next;   /* posting of the row that follows the stretch */
    uint64_t last_n; /* of the stretch */
    bool is_begun;
} tm_row_cursor;

static inline uint64_t tm_row_n(const tm_row *row, uint32_t low) {
    return (uint64_t)row->high << 32 | low;
}
/* Must a stretch be read before the next number is known? */
static inline bool tm_row_cursor_is_dry(const tm_row_cursor *cursor) {
    return cursor->at == cursor->count && (!cursor->is_begun || cursor->next < cursor->row.count);
}
/* The next number or, of a dry cursor, one that is not above it; UINT64_MAX: there is none. `after` is where the
 * reading is. */
uint64_t tm_row_cursor_n(const tm_row_cursor *cursor, uint64_t after);
/* Go past number `n`, within the stretch. */
void tm_row_cursor_pass(tm_row_cursor *cursor, uint64_t n);
/* The next stretch of a dry cursor, past `after`. TM_NO_MEMORY, TM_LOG_DISK. `state` is held by nobody. */
int tm_row_cursor_fill(tm_store *store, tm_row_cursor *cursor, uint64_t after);
/* `state` is held. */
void tm_row_cursor_free(tm_store *store, tm_row_cursor *cursor);

/* All references of a row, which is brought up to date, in a block of its own (free by TM_DELETE with the row's count);
 * NULL: no memory or no disk. The segment is pinned by the caller. */
tm_reference *tm_store_references(tm_store *store, const tm_segment *segment, tm_row *row, bool *is_memory);

#endif
