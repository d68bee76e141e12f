/* keep_store.c - a message becomes one record of the log, for all keeps that want it.
 *
 * Law: whether it is kept is known before anybody has a copy, so that a message that is refused goes to nobody, and may
 * come again. What it needs in memory is there before the record is appended. A confirmation that asks for the disk is
 * given when everything that was appended up to this message is on it. Who has a message kept waits for the disk from
 * then on (keep_hold.c).
 */
#include "base/grow.h"
#include "switch/keeps.h"

/* Among rows of a match: the keeps that want the message, each once. */
static void find_wanted(tm_switch *sw, size_t count) {
    tm_keeps *keeps = sw->keeps;
    keeps->wanted_count = keeps->wanted_claims = 0;
    keeps->stamp++;
    for (size_t row = 0; row < count; row++) {
        const tm_subscriber *subscriber = switch_subscriber(sw, sw->rows.groups[row]);
        if (subscriber->state != SUBSCRIBER_KEEP) {
            continue;
        }
        tm_keep *keep = keeps->rows[subscriber->keep];
        if (keep->stamp != keeps->stamp) {
            keep->stamp = keeps->stamp;
            keeps->wanted_slots[keeps->wanted_count++] = subscriber->keep;
            keeps->wanted[keeps->wanted_claims++] = keep->number;
            if (keep_keeps_past(keep)) {
                keeps->wanted[keeps->wanted_claims++] = keep->number | KEEP_UNACKED;
            }
        }
    }
}

/* The frame as it is kept: stamped, without ROUTE. NULL: no memory. */
static const uint8_t *compose(tm_switch *sw, const parts *message, uint32_t *size) {
    tm_keeps *keeps = sw->keeps;
    *size = message->size - message->route_bytes;
    if (*size > keeps->frame_capacity &&
        !tm_grow(&keeps->memory, TM_COLD, &keeps->frame, 1, &keeps->frame_capacity, *size)) {
        return NULL;
    }
    uint8_t *out = keeps->frame;
    memcpy(out, message->frame, WIRE_HEADER_BYTES);
    wire_store32(out, *size);
    out[WIRE_HOPS] = message->hops;
    wire_store64(out + WIRE_TRANSIT, message->source);
    wire_store64(out + WIRE_TRANSIT + 8, message->epoch);
    wire_store64(out + WIRE_TRANSIT + 16, message->counter);
    wire_store16(out + WIRE_EXTENSION_SIZE, (uint16_t)(message->extension_size - message->route_bytes));
    memcpy(out + WIRE_HEADER_BYTES, message->frame + WIRE_HEADER_BYTES + message->route_bytes,
           *size - WIRE_HEADER_BYTES);
    return out;
}

static bool is_deliverable(const parts *message) {
    uint32_t extensions = message->extension_size - message->route_bytes + KEEP_DELIVER_BYTES;
    return extensions <= WIRE_EXTENSIONS_MAX && message->size + KEEP_DELIVER_BYTES <= TM_FRAME_BYTES_MAX;
}

/* Room in memory, and in those keeps that refuse. */
static int make_room(tm_switch *sw, const uint8_t *frame, uint32_t size) {
    tm_keeps *keeps = sw->keeps;
    for (uint32_t i = 0; i < keeps->wanted_count; i++) {
        tm_keep *keep = keeps->rows[keeps->wanted_slots[i]];
        if (keep->terms->overflow == TM_KEEP_REFUSE && !keep_has_room(keep, size)) {
            keep->refused++;
            return TM_LOG_FULL;
        }
        if (!keep_reserve(sw, keep, frame)) {
            return TM_LOG_FULL;
        }
    }
    return TM_OK;
}

static int append(tm_switch *sw, const uint8_t *frame, uint32_t size, uint64_t now_ms, uint64_t *n) {
    tm_keeps *keeps = sw->keeps;
    if (keeps->wanted_claims > TM_LOG_KEEPS_MAX) {
        return TM_TOO_MANY;
    }
    tm_log_entry entry = {.keeps = keeps->wanted,
                          .keep_count = (uint16_t)keeps->wanted_claims,
                          .body = frame,
                          .body_size = size,
                          .kind = TM_LOG_MESSAGE,
                          .t_us = now_ms * 1000};
    return keep_append(sw, &entry, n);
}

static int store(tm_switch *sw, const parts *message) {
    tm_keeps *keeps = sw->keeps;
    uint32_t size;
    if (!is_deliverable(message)) {
        return TM_TOO_MANY;
    }
    const uint8_t *frame = compose(sw, message, &size);
    int result = frame == NULL ? TM_LOG_FULL : keeps->has_failed ? TM_LOG_FAILED : make_room(sw, frame, size);
    uint64_t now_ms = keeps->turn_ms;
    uint64_t n;
    if (result == TM_OK) {
        result = append(sw, frame, size, now_ms, &n);
    }
    for (uint32_t i = 0; result == TM_OK && i < keeps->wanted_count; i++) {
        uint32_t slot = keeps->wanted_slots[i];
        tm_kept_keys keys;
        tm_kept row = keep_row(sw, keep_at(sw, slot), n, now_ms, frame, size, &keys);
        row.place = keeps->last_place;
        row.maybe_duplicate = (frame[WIRE_FLAGS] & WIRE_FLAG_RETRY) != 0;
        keep_record_kept(sw, keep_at(sw, slot), &row, &keys, keep_id_of(frame), KEPT_BY_PUBLISHER);
        keep_put(sw, slot, &row, &keys);
    }
    switch_at(sw, message->from)->is_keeping = true;
    keeps->stats.kept += result == TM_OK;
    keeps->stats.refused += result != TM_OK;
    return result;
}

/* On its own, so that a message which no keep wants does not pay for its frame on the stack. */
static __attribute__((noinline)) int keep_it(tm_switch *sw, const parts *message, size_t count, uint32_t *kept_by) {
    find_wanted(sw, count);
    int result = store(sw, message);
    *kept_by = result == TM_OK ? sw->keeps->wanted_count : 0;
    return result;
}

int switch_keep(tm_switch *sw, const parts *message, size_t count, uint32_t *kept_by) {
    for (size_t row = 0; row < count; row++) {
        if (switch_subscriber(sw, sw->rows.groups[row])->state == SUBSCRIBER_KEEP) {
            return keep_it(sw, message, count, kept_by);
        }
    }
    *kept_by = 0;
    return TM_OK;
}

/* ---- confirmations ---- */

void switch_confirm_kept(tm_switch *sw, uint32_t connection, uint64_t counter, bool is_kept) {
    tm_keeps *keeps = sw->keeps;
    if (!is_kept || keeps == NULL || keeps->last_n <= keeps->committed) {
        switch_confirm(sw, connection, counter);
        return;
    }
    if (keeps->has_failed) {
        switch_refuse(sw, connection, counter, WIRE_REFUSED_LOG_FAILED, "the log of this router cannot be written", 0);
        return;
    }
    tm_wait wait = {.n = keeps->last_n,
                    .since_us = keeps->turn_us,
                    .origin = switch_at(sw, connection)->admission.number,
                    .number = counter,
                    .kind = WAIT_CONFIRMATION,
                    .connection = connection,
                    .count = 1};
    if (tm_waits_join(&keeps->waits, &wait)) {
        return;
    }
    if (!tm_waits_reserve(&keeps->waits)) {
        switch_refuse(sw, connection, counter, WIRE_REFUSED_OVERLOADED,
                      "it is kept, and too much waits for the disk to tell you when: try again", 0);
        return;
    }
    tm_waits_add(&keeps->waits, &wait);
}

tm_keep_refusal switch_keep_refusal(const tm_switch *sw, int result) {
    if (sw->keeps == NULL) {
        return (tm_keep_refusal){WIRE_REFUSED_NO_LOG,
                                 sw->keeps_nothing == TM_KEEPS_OFF
                                     ? "this router keeps nothing: its topology file says `kept: false`"
                                     : "this router keeps nothing: its topology file gives it no folder, `data`"};
    }
    switch (result) {
    case TM_LOG_BUSY:
        return (tm_keep_refusal){WIRE_REFUSED_OVERLOADED, "too much waits for the disk: try again later"};
    case TM_TOO_MANY:
        return (tm_keep_refusal){WIRE_REFUSED_TOO_LARGE, "the message, or its extensions, is too large to be kept"};
    case TM_LOG_FAILED:
        return (tm_keep_refusal){WIRE_REFUSED_LOG_FAILED, "the log of this router cannot be written"};
    default:
        return (tm_keep_refusal){WIRE_REFUSED_LOG_FULL, "the log, or a kept subscription that wants it, has no room"};
    }
}
