/* start.c - a new durable subscription takes over messages from the log.
 *
 * Law: each message that is taken over becomes a record of its own for this subscription, in the order of the log.
 * Messages that arrive meanwhile are taken over last, before the subscription gets its filters, so that no message
 * comes twice or before an older one. A call does a bounded piece.
 */
#include "base/tested.h"
#include "durable/core/append.h"
#include "durable/core/bodies.h"
#include "durable/core/bounds.h"
#include "durable/core/record.h"
#include "durable/core/table.h"
#include "durable/messages/lack.h"
#include "durable/messages/rows.h"
#include "durable/state.h"
#include "durable/tables/incomplete.h"

#define SLICE_BYTES (256U << 10) /* of records in one call */

/* true if a message has expired already. */
static bool is_over(const tm_switch *sw, const tm_durable *durable, const tm_stored_row *row,
                    const tm_stored_keys *keys) {
    uint64_t now_ms = durable_wall_ms(sw);
    bool is_old = durable->policy->for_ms > 0 && row->at_ms + durable->policy->for_ms <= now_ms;
    return is_old || (keys->expires_ms > 0 && keys->expires_ms <= now_ms);
}

/* If the message is known to be lacking, exclude the new subscription from a retry of it. */
static void note_taken(tm_switch *sw, tm_message_name name, uint32_t number) {
    if (tm_incompletes_find(&sw->durables->incomplete, name) != NULL) {
        durable_note_incomplete(sw, name, &number, 1);
    }
}

static int take_over(tm_switch *sw, uint32_t slot, tm_durable_start *start, const tm_log_record *record) {
    tm_durable *durable = durable_at(sw, slot);
    tm_body body;
    bool is_copy = record->flags & TM_LOG_COPIED;
    bool was_taken = !is_copy && record->n <= start->last; /* by a tm_durable_join that could not take all */
    bool is_seed = TM_BREAKS(SEED_TWICE) && record->kind == TM_LOG_SEED;
    if ((record->kind != TM_LOG_MESSAGE && !is_seed) || was_taken || record->n <= start->after ||
        record->t_us < start->since_us || !durable_frame_of(record, &body)) {
        return TM_OK;
    }
    tm_stored_keys keys;
    tm_stored_row row = durable_row(sw, durable, 0, body.at_ms, body.frame, body.size, &keys);
    /* A copy may have been taken over from its earlier place; a retry may follow a first publish that has a record. */
    row.maybe_duplicate = is_copy || (body.frame[WIRE_FLAGS] & WIRE_FLAG_RETRY) != 0;
    if (is_over(sw, durable, &row, &keys)) {
        return TM_OK;
    }
    if (durable->policy->overflow == TM_DURABLE_REFUSE && !durable_has_room(sw, durable, body.size)) {
        return TM_LOG_FULL;
    }
    if (!durable_reserve(sw, durable, body.frame)) {
        return TM_NO_MEMORY;
    }
    uint32_t holders[2] = {durable->number, durable->number | DURABLE_UNACKED};
    tm_log_entry entry = {.durables = holders,
                          .durable_count = durable_stores_past(durable) ? 2 : 1,
                          .body = body.frame,
                          .body_size = body.size,
                          .kind = TM_LOG_SEED,
                          .t_us = record->t_us};
    tm_stored_id id = durable_id_of(body.frame);
    uint64_t original = record->n; /* the append may overwrite `record` */
    int result = durable_append(sw, &entry, &row.n);
    if (result == TM_OK) {
        row.place = sw->durables->last_place;
        start->last = original > start->last ? original : start->last;
        durable_record_stored(sw, durable, &row, &keys, id, FATE_AT_START);
        durable_put(sw, slot, &row, &keys, id);
        note_taken(sw, (tm_message_name){id.origin, id.number}, durable->number);
    }
    return result;
}

static uint32_t slot_of(const tm_switch *sw, uint32_t number) {
    uint32_t slot = sw != NULL && sw->durables != NULL ? durable_slot(sw, number) : DURABLE_NONE;
    return slot == DURABLE_CATALOG || (slot != DURABLE_NONE && durable_at(sw, slot)->is_closing) ? DURABLE_NONE : slot;
}

static void end_call(tm_switch *sw) {
    tm_log_flush(sw->durables->log);
    durable_wake(sw);
}

void tm_durable_mark(tm_switch *sw, tm_durable_start *start) {
    start->place = tm_log_written(sw->durables->log);
}

int tm_durable_seed(tm_switch *sw, uint32_t number, tm_durable_start *start, const uint8_t *records, size_t size,
                    size_t *used) {
    uint32_t slot = slot_of(sw, number);
    if (slot == DURABLE_NONE || start == NULL || records == NULL || used == NULL) {
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
static bool is_little(const tm_switch *sw, const tm_durable_start *start) {
    uint64_t place = start->place;
    uint64_t most =
        sw->durables->options.ring_bytes / 8 < SLICE_BYTES ? sw->durables->options.ring_bytes / 8 : SLICE_BYTES;
    uint32_t is_behind;
    while (tm_log_pending(sw->durables->log, &place, &is_behind) != NULL && place - start->place <= most) {
    }
    return !is_behind && place - start->place <= most;
}

int tm_durable_join(tm_switch *sw, uint32_t number, tm_durable_start *start, tm_table *wanted) {
    uint32_t slot = slot_of(sw, number);
    if (slot == DURABLE_NONE || start == NULL || wanted == NULL) {
        return TM_MISUSED;
    }
    if (!is_little(sw, start)) {
        return TM_LOG_BUSY;
    }
    int result = TM_OK;
    uint32_t is_behind;
    uint64_t last_n = sw->durables->last_n;
    uint64_t place = start->place;
    const tm_log_record *record = tm_log_pending(sw->durables->log, &place, &is_behind);
    while (result == TM_OK && record != NULL && record->n <= last_n) {
        if (record->kind == TM_LOG_MESSAGE &&
            (tm_log_matches(wanted, start->program, record) || TM_BREAKS(SEED_UNWANTED))) {
            result = take_over(sw, slot, start, record);
        }
        start->place = result == TM_OK ? place : start->place;
        record = tm_log_pending(sw->durables->log, &place, &is_behind);
    }
    end_call(sw);
    return result == TM_OK && is_behind ? TM_LOG_BUSY : result;
}
