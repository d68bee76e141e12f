/* dead_letters.c - see dead_letters.h.
 *
 * Law: a dead letter is one record, by which one subscription is done with a message and another one has it. The counts
 * that include it are the next record, and  acknowledgements wait for them: until then the dead letter is in the log,
 * and a start counts it.
 */
#include "durable/messages/dead_letters.h"

#include "base/grow.h"
#include "base/tested.h"
#include "durable/core/append.h"
#include "durable/core/attempts.h"
#include "durable/core/bodies.h"
#include "durable/core/bounds.h"
#include "durable/core/record.h"
#include "durable/core/table.h"
#include "durable/messages/answers.h"
#include "durable/messages/leave.h"
#include "durable/messages/losses.h"
#include "durable/messages/rows.h"
#include "durable/tables/index.h"

/* Compose the body of a dead letter; borrowed until the next one, NULL: no memory. */
static uint8_t *compose(tm_switch *sw, const tm_log_done *done, const tm_attempt *attempt, const tm_body *body,
                        uint32_t *size) {
    tm_durables *durables = sw->durables;
    tm_dead_letter dead_letter = {
        .at_ms = body->at_ms, .deliveries = attempt->deliveries, .reason_size = attempt->reason_size};
    *size = (uint32_t)(sizeof *done + sizeof dead_letter) + dead_letter.reason_size + body->size;
    if (*size > durables->frame_capacity &&
        !tm_grow(&durables->memory, TM_COLD, &durables->frame, 1, &durables->frame_capacity, *size)) {
        return NULL;
    }
    uint8_t *at = durables->frame;
    memcpy(at, done, sizeof *done);
    memcpy(at + sizeof *done, &dead_letter, sizeof dead_letter);
    at += sizeof *done + sizeof dead_letter;
    if (dead_letter.reason_size > 0) {
        memcpy(at, attempt->reason, dead_letter.reason_size);
    }
    memcpy(at + dead_letter.reason_size, body->frame, body->size);
    return durables->frame;
}

/* Return the slot of the subscription for dead letters; DURABLE_NONE: there is none, or it refuses for want of room. */
static uint32_t dead_letter_slot(const tm_switch *sw, const tm_durable *durable, uint32_t size) {
    uint32_t to = durable->dead_letter != 0 ? durable_slot(sw, durable->dead_letter) : DURABLE_NONE;
    if (to == DURABLE_NONE || durable_at(sw, to)->is_closing) {
        return DURABLE_NONE;
    }
    const tm_durable *other = durable_at(sw, to);
    bool has_room =
        other->owner == durable->owner ? durable_has_room_of_own(other, size) : durable_has_room(sw, other, size);
    bool refuses = other->policy->overflow == TM_DURABLE_REFUSE && !has_room;
    return refuses ? DURABLE_NONE : to;
}

static bool write_dead_letter(tm_switch *sw, uint32_t slot, tm_stored_row *row, const tm_body *body, uint32_t to) {
    tm_durable *durable = durable_at(sw, slot);
    tm_stored_keys keys;
    tm_stored_row moved = durable_row(sw, durable_at(sw, to), 0, body->at_ms, body->frame, body->size, &keys);
    uint32_t at = (uint32_t)(row - durable->index.rows);
    const tm_stored_row *before = at > durable->index.first ? row - 1 : NULL;
    tm_log_done done = {.holder = durable->number, .last = row->n};
    done.first = before == NULL ? 0 : before->n + (before->state != ROW_LEFT);
    uint32_t size;
    const uint8_t *bytes = compose(sw, &done, &sw->durables->attempts.rows[row->attempt], body, &size);
    if (bytes == NULL || !durable_reserve(sw, durable_at(sw, to), body->frame) || !durable_reserve_loss(sw, durable)) {
        return false;
    }
    uint32_t number = durable_at(sw, to)->number;
    uint32_t holders[2] = {number, number | DURABLE_UNACKED};
    tm_log_entry entry = {.durables = holders,
                          .durable_count = durable_stores_past(durable_at(sw, to)) ? 2 : 1,
                          .body = bytes,
                          .body_size = size,
                          .kind = TM_LOG_DEAD_LETTER,
                          .t_us = durable_wall_ms(sw) * 1000};
    tm_stored_id id = durable_id_of(body->frame); /* the append may overwrite the frame */
    moved.maybe_duplicate = row->maybe_duplicate;
    moved.is_dead_letter = true;
    if (durable_append(sw, &entry, &moved.n) != TM_OK) {
        return false;
    }
    moved.n = TM_BREAKS(DEAD_LETTER_STAYS) ? done.last : moved.n;
    moved.place = sw->durables->last_place;
    durable_take_out(sw, slot, at, LEFT_DEAD, &done.first);
    durable_note_counts_due(sw, durable);
    durable_flush_losses(sw, slot);
    durable_record_stored(sw, durable_at(sw, to), &moved, &keys, id, FATE_AS_DEAD_LETTER);
    durable_put(sw, to, &moved, &keys, id);
    return true;
}

/* Write the dead letter of a row or lose the row; false: its frame is not read yet, or the log takes nothing now. */
static bool bury(tm_switch *sw, uint32_t slot, tm_stored_row *row) {
    tm_durable *durable = durable_at(sw, slot);
    uint32_t at = (uint32_t)(row - durable->index.rows);
    uint32_t to = dead_letter_slot(sw, durable, row->size);
    durable_flush_losses(sw, slot);
    if (durable->loss_count > 0) { /* counts that are written behind a dead letter must include it */
        return false;
    }
    if (TM_BREAKS(DEAD_LETTER_IS_DROPPED) && to != DURABLE_NONE) {
        return durable_lose(sw, slot, at, LEFT_DEAD);
    }
    tm_body body;
    tm_body_result found = to == DURABLE_NONE ? BODY_MISSING : durable_body(sw, slot, row, &body);
    if (found == BODY_MISSING) {
        return durable_lose(sw, slot, at, to == DURABLE_NONE ? LEFT_UNDELIVERABLE : LEFT_DAMAGED);
    }
    return found == BODY_FOUND && write_dead_letter(sw, slot, row, &body, to);
}

void durable_kill(tm_switch *sw, uint32_t slot, tm_stored_row *row, const uint8_t *reason, uint32_t size) {
    tm_durable *durable = durable_at(sw, slot);
    tm_attempt *attempt = &sw->durables->attempts.rows[row->attempt];
    if (attempt->is_dying) {
        return;
    }
    if (attempt->state != ATTEMPT_READY) {
        durable_make_ready(sw, slot, row->attempt);
    }
    size = size < ATTEMPT_REASON_BYTES_MAX ? size : ATTEMPT_REASON_BYTES_MAX;
    attempt->reason = size > 0 ? TM_NEW(&sw->durables->memory, TM_COLD, uint8_t, size) : NULL;
    attempt->reason_size = attempt->reason != NULL ? (uint16_t)size : 0;
    if (attempt->reason != NULL) {
        memcpy(attempt->reason, reason, size);
    }
    attempt->is_dying = true;
    durable->dying++;
    bury(sw, slot, row);
    durable_make_due(sw, slot);
}

static uint32_t first_dying(const tm_switch *sw, const tm_durable *durable) {
    uint32_t first = ATTEMPT_NONE;
    for (uint32_t i = 0; i < durable->ready.count; i++) {
        uint32_t id = durable->ready.attempts[i];
        const tm_attempt *attempt = &sw->durables->attempts.rows[id];
        if (attempt->is_dying && (first == ATTEMPT_NONE || attempt->n < sw->durables->attempts.rows[first].n)) {
            first = id;
        }
    }
    return first;
}

bool durable_write_dead_letters(tm_switch *sw, uint32_t slot) {
    tm_durable *durable = durable_at(sw, slot);
    while (durable->dying > 0) {
        uint32_t id = first_dying(sw, durable);
        if (!bury(sw, slot, tm_index_find(&durable->index, sw->durables->attempts.rows[id].n))) {
            return false;
        }
    }
    durable_flush_losses(sw, slot);
    durable_release_answers(sw, durable);
    return true;
}
