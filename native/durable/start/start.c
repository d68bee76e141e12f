/* start.c - a new durable subscription takes over messages from the log.
 *
 * Law: each message that is taken over becomes a record of its own for this subscription, in the order of the log.
 * Messages that arrive meanwhile are taken over last, before the subscription gets its filters, so that no message
 * comes twice or before an older one. A call does a bounded piece.
 */
#include "base/tested.h"
#include "durable/keep/append.h"
#include "durable/keep/bodies.h"
#include "durable/keep/bounds.h"
#include "durable/keep/record.h"
#include "durable/keep/table.h"
#include "durable/messages/lack.h"
#include "durable/messages/rows.h"
#include "durable/state.h"
#include "durable/tables/incomplete.h"

#define SLICE_BYTES (256U << 10) /* of records in one call */

/* true if a message has expired already. */
static bool is_over(const tm_switch *sw, const tm_keep *keep, const tm_kept *row, const tm_kept_keys *keys) {
    uint64_t now_ms = keep_wall_ms(sw);
    bool is_old = keep->terms->for_ms > 0 && row->at_ms + keep->terms->for_ms <= now_ms;
    return is_old || (keys->expires_ms > 0 && keys->expires_ms <= now_ms);
}

/* If the message is known to be lacking, exclude the new subscription from a retry of it. */
static void note_taken(tm_switch *sw, tm_message_name name, uint32_t number) {
    if (tm_incompletes_find(&sw->keeps->incomplete, name) != NULL) {
        keep_note_incomplete(sw, name, &number, 1);
    }
}

static int take_over(tm_switch *sw, uint32_t slot, tm_keep_start *start, const tm_log_record *record) {
    tm_keep *keep = keep_at(sw, slot);
    tm_body body;
    bool is_copy = record->flags & TM_LOG_COPIED;
    bool was_taken = !is_copy && record->n <= start->last; /* by a tm_keep_join that could not take all */
    bool is_seed = TM_BREAKS(SEED_TWICE) && record->kind == TM_LOG_SEED;
    if ((record->kind != TM_LOG_MESSAGE && !is_seed) || was_taken || record->n <= start->after ||
        record->t_us < start->since_us || !keep_frame_of(record, &body)) {
        return TM_OK;
    }
    tm_kept_keys keys;
    tm_kept row = keep_row(sw, keep, 0, body.at_ms, body.frame, body.size, &keys);
    /* A copy may have been taken over from its earlier place; a retry may follow a first publish that has a record. */
    row.maybe_duplicate = is_copy || (body.frame[WIRE_FLAGS] & WIRE_FLAG_RETRY) != 0;
    if (is_over(sw, keep, &row, &keys)) {
        return TM_OK;
    }
    if (keep->terms->overflow == TM_KEEP_REFUSE && !keep_has_room(sw, keep, body.size)) {
        return TM_LOG_FULL;
    }
    if (!keep_reserve(sw, keep, body.frame)) {
        return TM_NO_MEMORY;
    }
    uint32_t holders[2] = {keep->number, keep->number | KEEP_UNACKED};
    tm_log_entry entry = {.keeps = holders,
                          .keep_count = keep_keeps_past(keep) ? 2 : 1,
                          .body = body.frame,
                          .body_size = body.size,
                          .kind = TM_LOG_SEED,
                          .t_us = record->t_us};
    tm_kept_id id = keep_id_of(body.frame);
    uint64_t original = record->n; /* the append may overwrite `record` */
    int result = keep_append(sw, &entry, &row.n);
    if (result == TM_OK) {
        row.place = sw->keeps->last_place;
        start->last = original > start->last ? original : start->last;
        keep_record_kept(sw, keep, &row, &keys, id, KEPT_AT_START);
        keep_put(sw, slot, &row, &keys);
        note_taken(sw, (tm_message_name){id.origin, id.number}, keep->number);
    }
    return result;
}

static uint32_t slot_of(const tm_switch *sw, uint32_t number) {
    uint32_t slot = sw != NULL && sw->keeps != NULL ? keep_slot(sw, number) : KEEP_NONE;
    return slot == KEEP_BOOK || (slot != KEEP_NONE && keep_at(sw, slot)->is_closing) ? KEEP_NONE : slot;
}

static void end_call(tm_switch *sw) {
    tm_log_flush(sw->keeps->log);
    keep_wake(sw);
}

void tm_keep_mark(tm_switch *sw, tm_keep_start *start) {
    start->place = tm_log_written(sw->keeps->log);
}

int tm_keep_seed(tm_switch *sw, uint32_t number, tm_keep_start *start, const uint8_t *records, size_t size,
                 size_t *used) {
    uint32_t slot = slot_of(sw, number);
    if (slot == KEEP_NONE || start == NULL || records == NULL || used == NULL) {
        return TM_MISUSED;
    }
    int result = TM_OK;
    for (*used = 0; *used < size && *used < SLICE_BYTES && result == TM_OK;) {
        const tm_log_record *record = (const tm_log_record *)(records + *used);
        result = take_over(sw, slot, start, record);
        *used += result == TM_OK ? record->size : 0;
    }
    end_call(sw);
    return result;
}

/* true if the records since the mark are in memory and few enough for one call. */
static bool is_little(const tm_switch *sw, const tm_keep_start *start) {
    uint64_t place = start->place;
    uint64_t most = sw->keeps->options.ring_bytes / 8 < SLICE_BYTES ? sw->keeps->options.ring_bytes / 8 : SLICE_BYTES;
    uint32_t is_behind;
    while (tm_log_pending(sw->keeps->log, &place, &is_behind) != NULL && place - start->place <= most) {
    }
    return !is_behind && place - start->place <= most;
}

int tm_keep_join(tm_switch *sw, uint32_t number, tm_keep_start *start, tm_table *wanted) {
    uint32_t slot = slot_of(sw, number);
    if (slot == KEEP_NONE || start == NULL || wanted == NULL) {
        return TM_MISUSED;
    }
    if (!is_little(sw, start)) {
        return TM_LOG_BUSY;
    }
    int result = TM_OK;
    uint32_t is_behind;
    uint64_t last_n = sw->keeps->last_n;
    uint64_t place = start->place;
    const tm_log_record *record = tm_log_pending(sw->keeps->log, &place, &is_behind);
    while (result == TM_OK && record != NULL && record->n <= last_n) {
        if (record->kind == TM_LOG_MESSAGE && (tm_log_matches(wanted, record) || TM_BREAKS(SEED_UNWANTED))) {
            result = take_over(sw, slot, start, record);
        }
        start->place = result == TM_OK ? place : start->place;
        record = tm_log_pending(sw->keeps->log, &place, &is_behind);
    }
    end_call(sw);
    return result == TM_OK && is_behind ? TM_LOG_BUSY : result;
}
