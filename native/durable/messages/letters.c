/* letters.c - see letters.h.
 *
 * Law: a dead letter is one record, by which one subscription is done with a message and another one has it. The counts
 * that include it are the next record, and acknowledgements wait for them: until then the letter is in the log, and a
 * start counts it.
 */
#include "durable/messages/letters.h"

#include "base/grow.h"
#include "base/tested.h"
#include "durable/keep/append.h"
#include "durable/keep/attempts.h"
#include "durable/keep/bodies.h"
#include "durable/keep/bounds.h"
#include "durable/keep/record.h"
#include "durable/keep/table.h"
#include "durable/messages/answers.h"
#include "durable/messages/leave.h"
#include "durable/messages/losses.h"
#include "durable/messages/rows.h"
#include "durable/tables/index.h"

/* Compose the body of a dead letter; borrowed until the next one, NULL: no memory. */
static uint8_t *compose(tm_switch *sw, const tm_log_done *done, const tm_attempt *attempt, const tm_body *body,
                        uint32_t *size) {
    tm_keeps *keeps = sw->keeps;
    tm_keep_letter letter = {
        .at_ms = body->at_ms, .deliveries = attempt->deliveries, .reason_size = attempt->reason_size};
    *size = (uint32_t)(sizeof *done + sizeof letter) + letter.reason_size + body->size;
    if (*size > keeps->frame_capacity &&
        !tm_grow(&keeps->memory, TM_COLD, &keeps->frame, 1, &keeps->frame_capacity, *size)) {
        return NULL;
    }
    uint8_t *at = keeps->frame;
    memcpy(at, done, sizeof *done);
    memcpy(at + sizeof *done, &letter, sizeof letter);
    at += sizeof *done + sizeof letter;
    if (letter.reason_size > 0) {
        memcpy(at, attempt->reason, letter.reason_size);
    }
    memcpy(at + letter.reason_size, body->frame, body->size);
    return keeps->frame;
}

/* Return the slot of the subscription for dead letters; KEEP_NONE: there is none, or it refuses for want of room. */
static uint32_t letter_slot(const tm_switch *sw, const tm_keep *keep, uint32_t size) {
    uint32_t to = keep->dead_letter != 0 ? keep_slot(sw, keep->dead_letter) : KEEP_NONE;
    if (to == KEEP_NONE || keep_at(sw, to)->is_closing) {
        return KEEP_NONE;
    }
    const tm_keep *other = keep_at(sw, to);
    bool has_room = other->owner == keep->owner ? keep_has_room_of_own(other, size) : keep_has_room(sw, other, size);
    bool refuses = other->terms->overflow == TM_KEEP_REFUSE && !has_room;
    return refuses ? KEEP_NONE : to;
}

static bool write_letter(tm_switch *sw, uint32_t slot, tm_kept *row, const tm_body *body, uint32_t to) {
    tm_keep *keep = keep_at(sw, slot);
    tm_kept_keys keys;
    tm_kept moved = keep_row(sw, keep_at(sw, to), 0, body->at_ms, body->frame, body->size, &keys);
    uint32_t at = (uint32_t)(row - keep->index.rows);
    const tm_kept *before = at > keep->index.first ? row - 1 : NULL;
    tm_log_done done = {.holder = keep->number, .last = row->n};
    done.first = before == NULL ? 0 : before->n + (before->state != KEPT_LEFT);
    uint32_t size;
    const uint8_t *bytes = compose(sw, &done, &sw->keeps->attempts.rows[row->attempt], body, &size);
    if (bytes == NULL || !keep_reserve(sw, keep_at(sw, to), body->frame) || !keep_reserve_loss(sw, keep)) {
        return false;
    }
    uint32_t number = keep_at(sw, to)->number;
    uint32_t holders[2] = {number, number | KEEP_UNACKED};
    tm_log_entry entry = {.keeps = holders,
                          .keep_count = keep_keeps_past(keep_at(sw, to)) ? 2 : 1,
                          .body = bytes,
                          .body_size = size,
                          .kind = TM_LOG_DEAD_LETTER,
                          .t_us = keep_wall_ms(sw) * 1000};
    tm_kept_id id = keep_id_of(body->frame); /* the append may overwrite the frame */
    moved.maybe_duplicate = row->maybe_duplicate;
    moved.is_letter = true;
    if (keep_append(sw, &entry, &moved.n) != TM_OK) {
        return false;
    }
    moved.n = TM_BREAKS(LETTER_STAYS) ? done.last : moved.n;
    moved.place = sw->keeps->last_place;
    keep_take_out(sw, slot, at, LEFT_DEAD, &done.first);
    keep_note_tally_due(sw, keep);
    keep_flush_losses(sw, slot);
    keep_record_kept(sw, keep_at(sw, to), &moved, &keys, id, KEPT_AS_LETTER);
    keep_put(sw, to, &moved, &keys);
    return true;
}

/* Write the dead letter of a row or lose the row; false: its frame is not read yet, or the log takes nothing now. */
static bool bury(tm_switch *sw, uint32_t slot, tm_kept *row) {
    tm_keep *keep = keep_at(sw, slot);
    uint32_t at = (uint32_t)(row - keep->index.rows);
    uint32_t to = letter_slot(sw, keep, row->size);
    keep_flush_losses(sw, slot);
    if (keep->loss_count > 0) { /* counts that are written behind a letter must include it */
        return false;
    }
    if (TM_BREAKS(LETTER_IS_DROPPED) && to != KEEP_NONE) {
        return keep_lose(sw, slot, at, LEFT_DEAD);
    }
    tm_body body;
    tm_body_result found = to == KEEP_NONE ? BODY_MISSING : keep_body(sw, slot, row, &body);
    if (found == BODY_MISSING) {
        return keep_lose(sw, slot, at, to == KEEP_NONE ? LEFT_UNDELIVERABLE : LEFT_DAMAGED);
    }
    return found == BODY_FOUND && write_letter(sw, slot, row, &body, to);
}

void keep_kill(tm_switch *sw, uint32_t slot, tm_kept *row, const uint8_t *reason, uint32_t size) {
    tm_keep *keep = keep_at(sw, slot);
    tm_attempt *attempt = &sw->keeps->attempts.rows[row->attempt];
    if (attempt->is_dying) {
        return;
    }
    if (attempt->state != ATTEMPT_READY) {
        keep_make_ready(sw, slot, row->attempt);
    }
    size = size < ATTEMPT_REASON_BYTES_MAX ? size : ATTEMPT_REASON_BYTES_MAX;
    attempt->reason = size > 0 ? TM_NEW(&sw->keeps->memory, TM_COLD, uint8_t, size) : NULL;
    attempt->reason_size = attempt->reason != NULL ? (uint16_t)size : 0;
    if (attempt->reason != NULL) {
        memcpy(attempt->reason, reason, size);
    }
    attempt->is_dying = true;
    keep->dying++;
    bury(sw, slot, row);
    keep_make_due(sw, slot);
}

static uint32_t first_dying(const tm_switch *sw, const tm_keep *keep) {
    uint32_t first = ATTEMPT_NONE;
    for (uint32_t i = 0; i < keep->ready.count; i++) {
        uint32_t id = keep->ready.attempts[i];
        const tm_attempt *attempt = &sw->keeps->attempts.rows[id];
        if (attempt->is_dying && (first == ATTEMPT_NONE || attempt->n < sw->keeps->attempts.rows[first].n)) {
            first = id;
        }
    }
    return first;
}

bool keep_write_letters(tm_switch *sw, uint32_t slot) {
    tm_keep *keep = keep_at(sw, slot);
    while (keep->dying > 0) {
        uint32_t id = first_dying(sw, keep);
        if (!bury(sw, slot, tm_index_find(&keep->index, sw->keeps->attempts.rows[id].n))) {
            return false;
        }
    }
    keep_flush_losses(sw, slot);
    keep_release_answers(sw, keep);
    return true;
}
