/* cursor.h - the numbers of one row of a segment from a given number on, a stretch at a time.
 *
 * Law: numbers ascend. For a segment whose index is in memory, a stretch is copied when the cursor is filled, of a
 * mixed one the whole row; for a sealed one, it finds the first number in the footer and reads on from there. So
 * earlier numbers cost nothing.
 */
#ifndef TM_LOG_CURSOR_H
#define TM_LOG_CURSOR_H

#include "log/store.h"

typedef struct tm_row_cursor {
    tm_segment *segment; /* pinned by the owner of the cursor */
    tm_row row;
    tm_reference *references; /* owned: the current stretch */
    uint32_t room;            /* of `references` */
    uint32_t count;
    uint32_t at;
    uint32_t next;   /* posting of the row that follows the stretch */
    uint64_t last_n; /* of the stretch */
    bool is_begun;
} tm_row_cursor;

static inline uint64_t tm_row_n(const tm_row *row, uint32_t low) {
    return (uint64_t)row->high << 32 | low;
}
/* true if a stretch must be read before the next number is known. */
static inline bool tm_row_cursor_is_dry(const tm_row_cursor *cursor) {
    return cursor->at == cursor->count && (!cursor->is_begun || cursor->next < cursor->row.count);
}
/* Return the next number or, for a dry cursor, a lower bound of it; UINT64_MAX: there is none. `after` is the position
 * of the reader. */
uint64_t tm_row_cursor_n(const tm_row_cursor *cursor, uint64_t after);
/* Advance past number `n` within the stretch. */
void tm_row_cursor_pass(tm_row_cursor *cursor, uint64_t n);
/* Read the next stretch of a dry cursor, past `after`. TM_NO_MEMORY, TM_LOG_DISK. The caller does not hold `state`. */
int tm_row_cursor_fill(tm_store *store, tm_row_cursor *cursor, uint64_t after);
/* Free the stretch; the caller holds `state`. */
void tm_row_cursor_free(tm_store *store, tm_row_cursor *cursor);

#endif
