/* elsewhere.c - see elsewhere.h.
 *
 * Law: an unknown range is a row behind all rows that the subscription had when it was recorded, and a record of the
 * log, which many subscriptions may share. It states that messages may be missing between two positions. When its turn
 * comes, it is reported to the consumers, and to those that attach later until a message behind it is acknowledged, so
 * that a consumer which ends in between is followed by one that gets the report. Between two messages a subscription
 * has at most one unknown range, and at most UNKNOWNS_MAX in all: past that the newest one is extended over the new
 * range.
 */
#include "durable/core/elsewhere.h"

#include "durable/core/append.h"
#include "durable/core/done.h"
#include "durable/core/table.h"
#include "durable/tables/index.h"
#include "durable/tables/times.h"
#include "switch/connections/control.h"
#include "switch/connections/events.h"

#define UNKNOWNS_MAX 64U
#define LEFT_ROWS_MAX 64U /* gaps that are passed on the way back to an unknown range */

/* The body of a record of kind TM_DURABLES_UNKNOWN has one of these for each subscription. */
typedef struct durable_unknown {
    uint64_t durable;
    uint64_t first; /* position from which on messages may be missing */
} durable_unknown;

static bool is_unknown(const tm_stored_row *row) {
    return row->state == ROW_UNKNOWN || row->state == ROW_UNKNOWN_TOLD;
}

/* ---- leaving ---- */

void durable_drop_unknown(tm_switch *sw, uint32_t slot, uint32_t at) {
    tm_durable *durable = durable_at(sw, slot);
    uint64_t n = durable->index.rows[at].n;
    uint64_t first;
    tm_index_leave(&durable->index, at, &first);
    durable->unknown_rows--;
    durable_note_done(sw, durable->number, first, n);
}

void durable_pass_unknown(tm_switch *sw, uint32_t slot, uint32_t at) {
    const tm_index *index = &durable_at(sw, slot)->index;
    uint32_t most = LEFT_ROWS_MAX;
    while (at > index->first && index->rows[at - 1].state == ROW_LEFT && most-- > 0) {
        at--;
    }
    if (at > index->first && index->rows[at - 1].state == ROW_UNKNOWN_TOLD) {
        durable_drop_unknown(sw, slot, at - 1);
    }
}

/* ---- reporting ---- */

/* Report an unknown range to one consumer; false: no memory. */
static bool tell(tm_switch *sw, uint32_t id, const tm_stored_row *row) {
    const tm_consumer *consumer = durable_consumer(sw, id);
    wire_begin(&sw->writer, WIRE_LOST);
    wire_array(&sw->writer, 12);
    wire_unsigned(&sw->writer, 0);
    wire_unsigned(&sw->writer, 0);
    wire_unsigned(&sw->writer, WIRE_LOST_ROUTE_CHANGED);
    wire_array(&sw->writer, 1);
    wire_unsigned(&sw->writer, consumer->id);
    wire_unsigned(&sw->writer, 0);
    wire_boolean(&sw->writer, false);
    wire_array(&sw->writer, 0);
    wire_unsigned(&sw->writer, 0);
    wire_boolean(&sw->writer, false);
    wire_unsigned(&sw->writer, 1);
    wire_unsigned(&sw->writer, row->first);
    wire_unsigned(&sw->writer, row->n);
    wire_end(&sw->writer);
    return switch_queue_control(sw, consumer->connection, TM_LANE_ORDERED);
}

bool durable_tell_unknown(tm_switch *sw, uint32_t slot, uint32_t at) {
    tm_durable *durable = durable_at(sw, slot);
    tm_stored_row *row = &durable->index.rows[at];
    bool is_told = true;
    for (uint32_t id = durable->consumers; id != CONSUMER_NONE; id = durable_consumer(sw, id)->next_of_durable) {
        is_told &= tell(sw, id, row); /* all consumers, or one could acknowledge a message behind it without the
                                       * report */
    }
    if (is_told) {
        row->state = ROW_UNKNOWN_TOLD;
        durable->index.fresh = at == durable->index.fresh ? at + 1 : durable->index.fresh;
    }
    return is_told;
}

bool durable_tell_unknowns(tm_switch *sw, uint32_t consumer) {
    const tm_durable *durable = durable_at(sw, durable_consumer(sw, consumer)->durable);
    uint32_t left = durable->unknown_rows;
    bool is_told = true;
    for (uint32_t at = durable->index.first; left > 0 && is_told && at < durable->index.end; at++) {
        const tm_stored_row *row = &durable->index.rows[at];
        left -= is_unknown(row);
        is_told = row->state != ROW_UNKNOWN_TOLD || tell(sw, consumer, row);
    }
    return is_told;
}

/* ---- recording ---- */

/* Return the place of the newest unknown range; `end`: there is none. */
static uint32_t newest_unknown(const tm_durable *durable) {
    const tm_index *index = &durable->index;
    if (durable->unknown_rows == 0) {
        return index->end;
    }
    uint32_t at = tm_index_from(index, durable->unknown_n);
    if (at < index->end && index->rows[at].n == durable->unknown_n && is_unknown(&index->rows[at])) {
        return at;
    }
    for (at = index->end; at > index->first && !is_unknown(&index->rows[at - 1]); at--) {
    }
    return at - 1;
}

/* true if a new unknown range is merged into the one at `at`. */
static bool is_same_place(const tm_durable *durable, uint32_t at) {
    return at + 1 == durable->index.end || durable->unknown_rows >= UNKNOWNS_MAX;
}

/* true if the subscription needs a new unknown range from `*first` on, which is lowered if it replaces an older one. */
static bool needs_unknown(const tm_durable *durable, uint64_t *first) {
    uint32_t at = newest_unknown(durable);
    if (at == durable->index.end || !is_same_place(durable, at)) {
        return true;
    }
    const tm_stored_row *row = &durable->index.rows[at];
    if (at + 1 == durable->index.end && row->state == ROW_UNKNOWN && row->first <= *first) {
        return false;
    }
    *first = row->first < *first ? row->first : *first;
    return true;
}

static void put_unknown(tm_switch *sw, uint32_t slot, uint64_t n, uint64_t at_ms, uint64_t first) {
    tm_durable *durable = durable_at(sw, slot);
    tm_stored_row row = {.n = n, .first = first, .at_ms = at_ms, .attempt = STORED_NO_ATTEMPT, .state = ROW_UNKNOWN};
    tm_index_append(&durable->index, &row, NULL);
    durable->unknown_rows++;
    durable->unknown_n = n;
    if (n > sw->durables->committed) {
        durable_make_unwritten(sw, slot);
    }
}

/* Append the row of a new unknown range, whose record is in the log, and drop the one that it replaces. */
static void replace_unknown(tm_switch *sw, uint32_t slot, uint64_t n, uint64_t first) {
    tm_durable *durable = durable_at(sw, slot);
    uint32_t older = newest_unknown(durable);
    bool is_replaced = older < durable->index.end && is_same_place(durable, older);
    put_unknown(sw, slot, n, sw->durables->turn_ms, first);
    if (is_replaced) {
        durable_drop_unknown(sw, slot, older);
    }
}

/* Collect those of `numbers` that need an unknown range in `wanted` and `wanted_slots`; false: no memory. */
static bool find_unknown(tm_switch *sw, const uint32_t *numbers, size_t count, uint64_t first,
                         durable_unknown *unknown) {
    tm_durables *durables = sw->durables;
    durables->wanted_count = 0;
    durables->stamp++;
    for (size_t i = 0; i < count; i++) {
        uint32_t slot = durable_slot(sw, numbers[i]);
        tm_durable *durable = slot == DURABLE_NONE || slot == DURABLE_CATALOG ? NULL : durable_at(sw, slot);
        if (durable == NULL || durable->is_closing || durable->stamp == durables->stamp) {
            continue;
        }
        durable->stamp = durables->stamp;
        uint64_t from = first;
        if (needs_unknown(durable, &from)) {
            if (!tm_index_reserve(&durable->index, &durables->memory, false)) {
                return false;
            }
            unknown[durables->wanted_count] = (durable_unknown){numbers[i], from};
            durables->wanted[durables->wanted_count] = numbers[i];
            durables->wanted_slots[durables->wanted_count++] = slot;
        }
    }
    return true;
}

int tm_durables_unknown(tm_switch *sw, const uint32_t *numbers, size_t count, uint64_t since_ms) {
    if (sw == NULL || sw->durables == NULL || numbers == NULL || count > TM_DURABLES_UNKNOWN_MAX) {
        return TM_MISUSED;
    }
    tm_durables *durables = sw->durables;
    durable_unknown unknown[TM_DURABLES_UNKNOWN_MAX];
    switch_begin(sw);
    if (!find_unknown(sw, numbers, count, tm_times_at(&durables->times, since_ms) + 1, unknown)) {
        return TM_NO_MEMORY;
    }
    if (durables->wanted_count == 0) {
        return TM_OK;
    }
    tm_log_entry entry = {.durables = durables->wanted,
                          .durable_count = (uint16_t)durables->wanted_count,
                          .body = unknown,
                          .body_size = durables->wanted_count * (uint32_t)sizeof *unknown,
                          .kind = TM_DURABLES_UNKNOWN,
                          .t_us = durables->turn_ms * 1000};
    uint64_t n;
    int result = durable_append(sw, &entry, &n);
    for (uint32_t i = 0; result == TM_OK && i < durables->wanted_count; i++) {
        replace_unknown(sw, durables->wanted_slots[i], n, unknown[i].first);
    }
    tm_log_flush(durables->log);
    durable_wake(sw);
    return result;
}

/* ---- recovery ---- */

int durable_fill_unknown(tm_switch *sw, uint32_t slot, const tm_log_record *record) {
    tm_durable *durable = durable_at(sw, slot);
    const uint8_t *body = (const uint8_t *)(record + 1) + (record->durables + 1U) / 2 * 8;
    uint64_t first = 1;
    for (uint32_t at = 0; at + sizeof(durable_unknown) <= record->body_size; at += sizeof(durable_unknown)) {
        durable_unknown one;
        memcpy(&one, body + at, sizeof one);
        first = one.durable == durable->number ? one.first : first;
    }
    if (durable->unknown_rows == UINT8_MAX) {
        return TM_OK; /* the next start finds it */
    }
    if (!tm_index_reserve(&durable->index, &sw->durables->memory, false)) {
        return TM_NO_MEMORY;
    }
    put_unknown(sw, slot, record->n, record->t_us / 1000, first);
    return TM_OK;
}
