/* elsewhere.c - see elsewhere.h.
 *
 * Law: an unknown range is a row behind all rows that the subscription had when it was recorded, and a record of the
 * log, which many subscriptions may share. It states that messages are or may be missing between two positions, and for
 * which loss. When its turn comes, it is reported to the consumers, and to those that attach later until a message
 * behind it is acknowledged, so that a consumer which ends in between is followed by one that gets the report.
 *
 * A new range extends the newest one if no message is between them and both are of one loss: counts add up, as far as
 * one range can count. Ranges of different losses stand side by side. A subscription has at most UNKNOWNS_MAX: past
 * that the new range extends the newest one in any case, which then counts only if both do and are of one loss, and
 * otherwise names the graver loss: ENTRY_LOST, then CUSTODY_FULL, then ROUTE_CHANGED. A range that has no count hides
 * none: it says that their number is unknown.
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

/* The body of a record of kind TM_DURABLES_UNKNOWN has one of these for each subscription. Records of earlier versions
 * have 0 for `messages` and `loss`, as they are of ROUTE_CHANGED. */
typedef struct durable_unknown {
    uint32_t durable;
    uint32_t messages : 24; /* that are missing, at most ROW_MISSING_MAX; 0: their number is unknown */
    uint32_t loss : 8;      /* wire_loss */
    uint64_t first;         /* position from which on messages may be missing */
} durable_unknown;

_Static_assert(sizeof(durable_unknown) == 16, "as in records of earlier versions");
_Static_assert(WIRE_LOST_ROUTE_CHANGED < WIRE_LOST_CUSTODY_FULL && WIRE_LOST_CUSTODY_FULL < WIRE_LOST_ENTRY_LOST,
               "the graver of two losses has the greater number");

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
    wire_unsigned(&sw->writer, row->size);
    wire_unsigned(&sw->writer, 0);
    wire_unsigned(&sw->writer, row->loss);
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

/* true if the new range extends the one at `at`, the newest of the subscription. */
static bool extends(const tm_durable *durable, uint32_t at, const durable_unknown *new) {
    const tm_stored_row *row = &durable->index.rows[at];
    bool is_alike = row->loss == new->loss && row->size + new->messages <= ROW_MISSING_MAX;
    return (is_alike && at + 1 == durable->index.end) || durable->unknown_rows >= UNKNOWNS_MAX;
}

/* true if an unreported range, which has no message behind it, says all that the new one says. */
static bool covers(const tm_stored_row *row, const durable_unknown *new) {
    return row->state == ROW_UNKNOWN && row->first <= new->first && row->loss == new->loss &&
           row->size + new->messages == 0;
}

/* Extend the new range over an older one, which it replaces. */
static void extend(durable_unknown *new, const tm_stored_row *older) {
    uint32_t messages = older->size + new->messages;
    bool is_counted = older->loss == new->loss && older->size > 0 && new->messages > 0 && messages <= ROW_MISSING_MAX;
    new->messages = is_counted ? messages : 0;
    new->loss = older->loss > new->loss ? older->loss : new->loss;
    new->first = older->first < new->first ? older->first : new->first;
}

/* true if the subscription needs the new range, which is then extended over the one at position `*replaced`; 0: none.
 */
static bool needs_unknown(const tm_durable *durable, durable_unknown *new, uint64_t *replaced) {
    uint32_t at = newest_unknown(durable);
    *replaced = 0;
    if (at == durable->index.end || !extends(durable, at, new)) {
        return true;
    }
    const tm_stored_row *row = &durable->index.rows[at];
    if (at + 1 == durable->index.end && covers(row, new)) {
        return false;
    }
    extend(new, row);
    *replaced = row->n;
    return true;
}

static void put_unknown(tm_switch *sw, uint32_t slot, uint64_t n, uint64_t at_ms, const durable_unknown *range) {
    tm_durable *durable = durable_at(sw, slot);
    tm_stored_row row = {.n = n,
                         .first = range->first,
                         .at_ms = at_ms,
                         .size = range->messages,
                         .attempt = STORED_NO_ATTEMPT,
                         .state = ROW_UNKNOWN,
                         .loss = range->loss};
    tm_index_append(&durable->index, &row, NULL);
    durable->unknown_rows++;
    durable->unknown_n = n;
    if (n > sw->durables->committed) {
        durable_make_unwritten(sw, slot);
    }
}

/* Append the row of a new unknown range, whose record is in the log, and drop the one that it replaces. */
static void replace_unknown(tm_switch *sw, uint32_t slot, uint64_t n, const durable_unknown *new, uint64_t replaced) {
    put_unknown(sw, slot, n, sw->durables->turn_ms, new);
    if (replaced != 0) {
        durable_drop_unknown(sw, slot, tm_index_from(&durable_at(sw, slot)->index, replaced));
    }
}

/* The ranges of one call; those that are wanted are in `wanted` and `wanted_slots` of tm_durables. */
typedef struct new_ranges {
    durable_unknown unknown[TM_DURABLES_UNKNOWN_MAX];
    uint64_t replaced[TM_DURABLES_UNKNOWN_MAX]; /* positions of ranges that they extend; 0: none */
} new_ranges;

/* Collect those of `numbers` that need the range `wanted`; false: no memory. */
static bool find_unknown(tm_switch *sw, const uint32_t *numbers, size_t count, durable_unknown wanted,
                         new_ranges *ranges) {
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
        durable_unknown *new = &ranges->unknown[durables->wanted_count];
        *new = wanted;
        new->durable = numbers[i];
        if (needs_unknown(durable, new, &ranges->replaced[durables->wanted_count])) {
            if (!tm_index_reserve(&durable->index, &durables->memory, false)) {
                return false;
            }
            durables->wanted[durables->wanted_count] = numbers[i];
            durables->wanted_slots[durables->wanted_count++] = slot;
        }
    }
    return true;
}

static bool is_loss_elsewhere(uint32_t loss) {
    return loss == WIRE_LOST_ROUTE_CHANGED || loss == WIRE_LOST_CUSTODY_FULL || loss == WIRE_LOST_ENTRY_LOST;
}

int tm_durables_unknown(tm_switch *sw, const uint32_t *numbers, size_t count, uint64_t since_ms, uint32_t loss,
                        uint64_t messages) {
    if (sw == NULL || sw->durables == NULL || numbers == NULL || count > TM_DURABLES_UNKNOWN_MAX ||
        !is_loss_elsewhere(loss) || (messages > 0 && loss != WIRE_LOST_CUSTODY_FULL)) {
        return TM_MISUSED;
    }
    tm_durables *durables = sw->durables;
    uint64_t before = since_ms == TM_DURABLES_HERE ? durables->last_n : tm_times_at(&durables->times, since_ms);
    durable_unknown wanted = {
        .messages = messages <= ROW_MISSING_MAX ? (uint32_t)messages : 0, .loss = loss, .first = before + 1};
    new_ranges ranges;
    switch_begin(sw);
    if (!find_unknown(sw, numbers, count, wanted, &ranges)) {
        return TM_NO_MEMORY;
    }
    if (durables->wanted_count == 0) {
        return TM_OK;
    }
    tm_log_entry entry = {.durables = durables->wanted,
                          .durable_count = (uint16_t)durables->wanted_count,
                          .body = ranges.unknown,
                          .body_size = durables->wanted_count * (uint32_t)sizeof ranges.unknown[0],
                          .kind = TM_DURABLES_UNKNOWN,
                          .t_us = durables->turn_ms * 1000};
    uint64_t n;
    int result = durable_append(sw, &entry, &n);
    for (uint32_t i = 0; result == TM_OK && i < durables->wanted_count; i++) {
        replace_unknown(sw, durables->wanted_slots[i], n, &ranges.unknown[i], ranges.replaced[i]);
    }
    tm_log_flush(durables->log);
    durable_wake(sw);
    return result;
}

/* ---- recovery ---- */

int durable_fill_unknown(tm_switch *sw, uint32_t slot, const tm_log_record *record) {
    tm_durable *durable = durable_at(sw, slot);
    const uint8_t *body = (const uint8_t *)(record + 1) + (record->durables + 1U) / 2 * 8;
    durable_unknown range = {.first = 1};
    for (uint32_t at = 0; at + sizeof(durable_unknown) <= record->body_size; at += sizeof(durable_unknown)) {
        durable_unknown one;
        memcpy(&one, body + at, sizeof one);
        range = one.durable == durable->number ? one : range;
    }
    if (!is_loss_elsewhere(range.loss)) { /* an earlier version wrote the record */
        range.loss = WIRE_LOST_ROUTE_CHANGED;
    }
    if (durable->unknown_rows == UINT8_MAX) {
        return TM_OK; /* the next start finds it */
    }
    if (!tm_index_reserve(&durable->index, &sw->durables->memory, false)) {
        return TM_NO_MEMORY;
    }
    put_unknown(sw, slot, record->n, record->t_us / 1000, &range);
    return TM_OK;
}
