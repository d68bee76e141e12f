/* elsewhere.c - see elsewhere.h.
 *
 * Law: an unknown range is a row behind all rows that the subscription had when it was recorded, and a record of the
 * log, which many subscriptions may share. It states that messages may be missing between two positions. When its turn
 * comes, it is reported to the consumers, and to those that attach later until a message behind it is acknowledged, so
 * that a consumer which ends in between is followed by one that gets the report. Between two messages a subscription
 * has at most one unknown range, and at most DOUBTS_MAX in all: past that the newest one is extended over the new
 * range.
 */
#include "durable/keep/elsewhere.h"

#include "durable/keep/append.h"
#include "durable/keep/done.h"
#include "durable/keep/table.h"
#include "durable/tables/index.h"
#include "durable/tables/times.h"
#include "switch/connections/control.h"
#include "switch/connections/events.h"

#define DOUBTS_MAX 64U
#define LEFT_ROWS_MAX 64U /* gaps that are passed on the way back to an unknown range */

/* The body of a record of kind TM_KEEPS_DOUBT has one of these for each subscription. */
typedef struct keep_doubted {
    uint64_t keep;
    uint64_t first; /* position from which on messages may be missing */
} keep_doubted;

static bool is_doubt(const tm_kept *row) {
    return row->state == KEPT_DOUBT || row->state == KEPT_DOUBT_TOLD;
}

/* ---- leaving ---- */

void keep_drop_doubt(tm_switch *sw, uint32_t slot, uint32_t at) {
    tm_keep *keep = keep_at(sw, slot);
    uint64_t n = keep->index.rows[at].n;
    uint64_t first;
    tm_index_leave(&keep->index, at, &first);
    keep->doubt_rows--;
    keep_note_done(sw, keep->number, first, n);
}

void keep_pass_doubt(tm_switch *sw, uint32_t slot, uint32_t at) {
    const tm_index *index = &keep_at(sw, slot)->index;
    uint32_t most = LEFT_ROWS_MAX;
    while (at > index->first && index->rows[at - 1].state == KEPT_LEFT && most-- > 0) {
        at--;
    }
    if (at > index->first && index->rows[at - 1].state == KEPT_DOUBT_TOLD) {
        keep_drop_doubt(sw, slot, at - 1);
    }
}

/* ---- reporting ---- */

/* Report an unknown range to one consumer; false: no memory. */
static bool tell(tm_switch *sw, uint32_t id, const tm_kept *row) {
    const tm_member *member = keep_member(sw, id);
    wire_begin(&sw->writer, WIRE_LOST);
    wire_array(&sw->writer, 12);
    wire_unsigned(&sw->writer, 0);
    wire_unsigned(&sw->writer, 0);
    wire_unsigned(&sw->writer, WIRE_LOST_WAY_CHANGED);
    wire_array(&sw->writer, 1);
    wire_unsigned(&sw->writer, member->id);
    wire_unsigned(&sw->writer, 0);
    wire_boolean(&sw->writer, false);
    wire_array(&sw->writer, 0);
    wire_unsigned(&sw->writer, 0);
    wire_boolean(&sw->writer, false);
    wire_unsigned(&sw->writer, 1);
    wire_unsigned(&sw->writer, row->first);
    wire_unsigned(&sw->writer, row->n);
    wire_end(&sw->writer);
    return switch_queue_control(sw, member->connection, TM_LANE_ORDERED);
}

bool keep_tell_doubt(tm_switch *sw, uint32_t slot, uint32_t at) {
    tm_keep *keep = keep_at(sw, slot);
    tm_kept *row = &keep->index.rows[at];
    bool is_told = true;
    for (uint32_t id = keep->members; id != MEMBER_NONE; id = keep_member(sw, id)->next_of_keep) {
        is_told &= tell(sw, id, row); /* all consumers, or one could acknowledge a message behind it without the
                                       * report */
    }
    if (is_told) {
        row->state = KEPT_DOUBT_TOLD;
        keep->index.fresh = at == keep->index.fresh ? at + 1 : keep->index.fresh;
    }
    return is_told;
}

bool keep_tell_doubts(tm_switch *sw, uint32_t member) {
    const tm_keep *keep = keep_at(sw, keep_member(sw, member)->keep);
    uint32_t left = keep->doubt_rows;
    bool is_told = true;
    for (uint32_t at = keep->index.first; left > 0 && is_told && at < keep->index.end; at++) {
        const tm_kept *row = &keep->index.rows[at];
        left -= is_doubt(row);
        is_told = row->state != KEPT_DOUBT_TOLD || tell(sw, member, row);
    }
    return is_told;
}

/* ---- recording ---- */

/* Return the place of the newest unknown range; `end`: there is none. */
static uint32_t newest_doubt(const tm_keep *keep) {
    const tm_index *index = &keep->index;
    if (keep->doubt_rows == 0) {
        return index->end;
    }
    uint32_t at = tm_index_from(index, keep->doubt_n);
    if (at < index->end && index->rows[at].n == keep->doubt_n && is_doubt(&index->rows[at])) {
        return at;
    }
    for (at = index->end; at > index->first && !is_doubt(&index->rows[at - 1]); at--) {
    }
    return at - 1;
}

/* true if a new unknown range is merged into the one at `at`. */
static bool is_same_place(const tm_keep *keep, uint32_t at) {
    return at + 1 == keep->index.end || keep->doubt_rows >= DOUBTS_MAX;
}

/* true if the subscription needs a new unknown range from `*first` on, which is lowered if it replaces an older one. */
static bool needs_doubt(const tm_keep *keep, uint64_t *first) {
    uint32_t at = newest_doubt(keep);
    if (at == keep->index.end || !is_same_place(keep, at)) {
        return true;
    }
    const tm_kept *row = &keep->index.rows[at];
    if (at + 1 == keep->index.end && row->state == KEPT_DOUBT && row->first <= *first) {
        return false;
    }
    *first = row->first < *first ? row->first : *first;
    return true;
}

static void put_doubt(tm_switch *sw, uint32_t slot, uint64_t n, uint64_t at_ms, uint64_t first) {
    tm_keep *keep = keep_at(sw, slot);
    tm_kept row = {.n = n, .first = first, .at_ms = at_ms, .attempt = KEPT_NO_ATTEMPT, .state = KEPT_DOUBT};
    tm_index_append(&keep->index, &row, NULL);
    keep->doubt_rows++;
    keep->doubt_n = n;
    if (n > sw->keeps->committed) {
        keep_make_unwritten(sw, slot);
    }
}

/* Append the row of a new unknown range, whose record is in the log, and drop the one that it replaces. */
static void replace_doubt(tm_switch *sw, uint32_t slot, uint64_t n, uint64_t first) {
    tm_keep *keep = keep_at(sw, slot);
    uint32_t older = newest_doubt(keep);
    bool is_replaced = older < keep->index.end && is_same_place(keep, older);
    put_doubt(sw, slot, n, sw->keeps->turn_ms, first);
    if (is_replaced) {
        keep_drop_doubt(sw, slot, older);
    }
}

/* Collect those of `numbers` that need an unknown range in `wanted` and `wanted_slots`; false: no memory. */
static bool find_doubted(tm_switch *sw, const uint32_t *numbers, size_t count, uint64_t first, keep_doubted *doubted) {
    tm_keeps *keeps = sw->keeps;
    keeps->wanted_count = 0;
    keeps->stamp++;
    for (size_t i = 0; i < count; i++) {
        uint32_t slot = keep_slot(sw, numbers[i]);
        tm_keep *keep = slot == KEEP_NONE || slot == KEEP_BOOK ? NULL : keep_at(sw, slot);
        if (keep == NULL || keep->is_closing || keep->stamp == keeps->stamp) {
            continue;
        }
        keep->stamp = keeps->stamp;
        uint64_t from = first;
        if (needs_doubt(keep, &from)) {
            if (!tm_index_reserve(&keep->index, &keeps->memory, false)) {
                return false;
            }
            doubted[keeps->wanted_count] = (keep_doubted){numbers[i], from};
            keeps->wanted[keeps->wanted_count] = numbers[i];
            keeps->wanted_slots[keeps->wanted_count++] = slot;
        }
    }
    return true;
}

int tm_keeps_doubt(tm_switch *sw, const uint32_t *numbers, size_t count, uint64_t since_ms) {
    if (sw == NULL || sw->keeps == NULL || numbers == NULL || count > TM_KEEPS_DOUBTED_MAX) {
        return TM_MISUSED;
    }
    tm_keeps *keeps = sw->keeps;
    keep_doubted doubted[TM_KEEPS_DOUBTED_MAX];
    switch_begin(sw);
    if (!find_doubted(sw, numbers, count, tm_times_at(&keeps->times, since_ms) + 1, doubted)) {
        return TM_NO_MEMORY;
    }
    if (keeps->wanted_count == 0) {
        return TM_OK;
    }
    tm_log_entry entry = {.keeps = keeps->wanted,
                          .keep_count = (uint16_t)keeps->wanted_count,
                          .body = doubted,
                          .body_size = keeps->wanted_count * (uint32_t)sizeof *doubted,
                          .kind = TM_KEEPS_DOUBT,
                          .t_us = keeps->turn_ms * 1000};
    uint64_t n;
    int result = keep_append(sw, &entry, &n);
    for (uint32_t i = 0; result == TM_OK && i < keeps->wanted_count; i++) {
        replace_doubt(sw, keeps->wanted_slots[i], n, doubted[i].first);
    }
    tm_log_flush(keeps->log);
    keep_wake(sw);
    return result;
}

/* ---- recovery ---- */

int keep_fill_doubt(tm_switch *sw, uint32_t slot, const tm_log_record *record) {
    tm_keep *keep = keep_at(sw, slot);
    const uint8_t *body = (const uint8_t *)(record + 1) + (record->keeps + 1U) / 2 * 8;
    uint64_t first = 1;
    for (uint32_t at = 0; at + sizeof(keep_doubted) <= record->body_size; at += sizeof(keep_doubted)) {
        keep_doubted one;
        memcpy(&one, body + at, sizeof one);
        first = one.keep == keep->number ? one.first : first;
    }
    if (keep->doubt_rows == UINT8_MAX) {
        return TM_OK; /* the next start finds it */
    }
    if (!tm_index_reserve(&keep->index, &sw->keeps->memory, false)) {
        return TM_NO_MEMORY;
    }
    put_doubt(sw, slot, record->n, record->t_us / 1000, first);
    return TM_OK;
}
