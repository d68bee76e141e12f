/* catalog.c - see catalog.h. */
#include "durable/core/catalog.h"

#include "durable/core/append.h"
#include "durable/tables/index.h"

int durable_append_catalog(tm_switch *sw, uint32_t kind, const void *body, uint32_t size, uint64_t *n) {
    tm_durables *durables = sw->durables;
    static const uint32_t catalog = TM_DURABLES_CATALOG;
    uint64_t now_ms = durable_wall_ms(sw);
    if (!tm_index_reserve(&durable_at(sw, DURABLE_CATALOG)->index, &durables->memory, false)) {
        return TM_LOG_FULL;
    }
    tm_log_entry entry = {.durables = &catalog,
                          .durable_count = 1,
                          .body = body,
                          .body_size = size,
                          .kind = (uint16_t)kind,
                          .t_us = now_ms * 1000};
    int result = durable_append(sw, &entry, n);
    if (result == TM_OK) {
        tm_stored_row row = {
            .n = *n, .place = ROW_NO_PLACE, .at_ms = now_ms, .size = size, .attempt = STORED_NO_ATTEMPT};
        tm_index_append(&durables->rows[DURABLE_CATALOG]->index, &row, NULL);
    }
    return result;
}
