/* book.c - see book.h. */
#include "durable/keep/book.h"

#include "durable/keep/append.h"
#include "durable/tables/index.h"

int keep_append_book(tm_switch *sw, uint32_t kind, const void *body, uint32_t size, uint64_t *n) {
    tm_keeps *keeps = sw->keeps;
    static const uint32_t book = TM_KEEPS_BOOK;
    uint64_t now_ms = keep_wall_ms(sw);
    if (!tm_index_reserve(&keep_at(sw, KEEP_BOOK)->index, &keeps->memory, false)) {
        return TM_LOG_FULL;
    }
    tm_log_entry entry = {.keeps = &book,
                          .keep_count = 1,
                          .body = body,
                          .body_size = size,
                          .kind = (uint16_t)kind,
                          .t_us = now_ms * 1000};
    int result = keep_append(sw, &entry, n);
    if (result == TM_OK) {
        tm_kept row = {.n = *n, .place = KEPT_NO_PLACE, .at_ms = now_ms, .size = size, .attempt = KEPT_NO_ATTEMPT};
        tm_index_append(&keeps->rows[KEEP_BOOK]->index, &row, NULL);
    }
    return result;
}
