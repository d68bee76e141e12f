/* store.c - see store.h.
 *
 * Law: a subscription without room, or a log that takes nothing, stops no message: it goes to all other receivers, and
 * once to each, however often it is published; which subscriptions lack it is recorded before any copy is queued
 * (lack.c). Memory is reserved before the record is appended. A confirmation of storage is sent when all records up to
 * that of the message are on disk. The publisher of a stored message is subject to backpressure from then on (hold.c).
 * A dry run stores nothing: its trail names the subscriptions that match.
 */
#include "durable/messages/store.h"

#include "base/grow.h"
#include "base/tested.h"
#include "durable/keep/append.h"
#include "durable/keep/bounds.h"
#include "durable/keep/record.h"
#include "durable/messages/lack.h"
#include "durable/messages/rows.h"
#include "durable/tables/incomplete.h"
#include "durable/tables/waits.h"
#include "switch/connections/control.h"
#include "switch/observe/trail.h"

/* Collect the subscriptions among the rows of a match, each once, except those that have the message (`had`, or
 * NULL). */
static void find_wanted(tm_switch *sw, size_t count, const tm_incomplete *had) {
    tm_keeps *keeps = sw->keeps;
    keeps->wanted_count = keeps->lack.had = 0;
    keeps->stamp++;
    for (size_t row = 0; row < count; row++) {
        const tm_subscriber *subscriber = switch_subscriber(sw, sw->rows.groups[row]);
        if (subscriber->state != SUBSCRIBER_KEEP) {
            continue;
        }
        tm_keep *keep = keeps->rows[subscriber->keep];
        if (keep->stamp != keeps->stamp) {
            keep->stamp = keeps->stamp;
            if (had != NULL && tm_incomplete_has(had, keep->number)) {
                keeps->lack.had++;
            } else {
                keeps->wanted_slots[keeps->wanted_count++] = subscriber->keep;
            }
        }
    }
}

/* Compose the stored frame, stamped and without ROUTE; borrowed until the next one, NULL: no memory. */
static const uint8_t *compose(tm_switch *sw, const tm_message *message, uint32_t *size) {
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

static bool is_deliverable(const tm_message *message) {
    uint32_t extensions = message->extension_size - message->route_bytes + KEEP_DELIVER_BYTES;
    return extensions <= WIRE_EXTENSIONS_MAX && message->size + KEEP_DELIVER_BYTES <= TM_FRAME_BYTES_MAX;
}

/* Move the subscriptions with room for the frame, and memory for its row, to the front of `wanted_slots`. Return how
 * many there are. */
static uint32_t find_room(tm_switch *sw, const uint8_t *frame, uint32_t size) {
    tm_keeps *keeps = sw->keeps;
    uint32_t with_room = 0;
    for (uint32_t i = 0; i < keeps->wanted_count; i++) {
        uint32_t slot = keeps->wanted_slots[i];
        tm_keep *keep = keeps->rows[slot];
        bool has_room = keep->terms->overflow != TM_KEEP_REFUSE || keep_has_room(sw, keep, size);
        if (has_room && keep_reserve(sw, keep, frame)) {
            keeps->wanted_slots[i] = keeps->wanted_slots[with_room];
            keeps->wanted_slots[with_room++] = slot;
        }
    }
    return with_room;
}

/* Append one record for the first `count` of `wanted_slots`. */
static int append(tm_switch *sw, const uint8_t *frame, uint32_t size, uint32_t count, uint64_t *n) {
    tm_keeps *keeps = sw->keeps;
    uint32_t claims = 0;
    for (uint32_t i = 0; i < count; i++) {
        const tm_keep *keep = keeps->rows[keeps->wanted_slots[i]];
        keeps->wanted[claims++] = keep->number;
        if (keep_keeps_past(keep)) {
            keeps->wanted[claims++] = keep->number | KEEP_UNACKED;
        }
    }
    if (claims > TM_LOG_KEEPS_MAX) {
        return TM_TOO_MANY;
    }
    tm_log_entry entry = {.keeps = keeps->wanted,
                          .keep_count = (uint16_t)claims,
                          .body = frame,
                          .body_size = size,
                          .kind = TM_LOG_MESSAGE,
                          .flags = count < keeps->wanted_count ? TM_LOG_PARTIAL : 0,
                          .t_us = keeps->turn_ms * 1000};
    return keep_append(sw, &entry, n);
}

static void put_rows(tm_switch *sw, const uint8_t *frame, uint32_t size, uint32_t count, uint64_t n) {
    tm_keeps *keeps = sw->keeps;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = keeps->wanted_slots[i];
        tm_kept_keys keys;
        tm_kept row = keep_row(sw, keep_at(sw, slot), n, keeps->turn_ms, frame, size, &keys);
        row.place = keeps->last_place;
        row.maybe_duplicate = (frame[WIRE_FLAGS] & WIRE_FLAG_RETRY) != 0;
        keep_record_kept(sw, keep_at(sw, slot), &row, &keys, keep_id_of(frame), KEPT_BY_PUBLISHER);
        keep_put(sw, slot, &row, &keys);
    }
}

/* Store the message for the subscriptions that have room, and record in `lack` which lack it and why. */
static void store(tm_switch *sw, const tm_message *message) {
    tm_keeps *keeps = sw->keeps;
    uint32_t size = message->size;
    uint32_t stored = 0;
    int result = is_deliverable(message) ? TM_OK : TM_TOO_MANY;
    const uint8_t *frame = result == TM_OK ? compose(sw, message, &size) : NULL;
    result = result == TM_OK && frame == NULL ? TM_LOG_FULL : result;
    if (frame != NULL) {
        stored = keeps->has_failed ? 0 : find_room(sw, frame, size);
        uint64_t n = 0;
        result = keeps->has_failed ? TM_LOG_FAILED : stored > 0 ? append(sw, frame, size, stored, &n) : TM_OK;
        stored = result == TM_OK ? stored : 0;
        put_rows(sw, frame, size, stored, n);
    }
    keeps->lack.stored = stored;
    keeps->lack.why = result;
    keeps->stats.kept += stored > 0;
    switch_at(sw, message->from)->is_keeping = true;
}

/* Add the subscriptions that store the message, or would, to its trail. */
static void note_keeps(tm_switch *sw) {
    const tm_keeps *keeps = sw->keeps;
    for (uint32_t i = 0; i < keeps->lack.stored; i++) {
        switch_trail_add(sw, TM_TRACE_KEEPS, keeps->rows[keeps->wanted_slots[i]]->number, 0);
    }
}

uint32_t keep_store(tm_switch *sw, const tm_message *message, size_t count) {
    tm_keep_lack *lack = &sw->keeps->lack;
    find_wanted(sw, count, keep_find_incomplete(sw, message));
    lack->stored = message->is_dry ? sw->keeps->wanted_count : 0;
    if (!message->is_dry && sw->keeps->wanted_count > 0) {
        store(sw, message);
    }
    if (!message->is_dry) {
        keep_take_lack(sw, message);
    }
    if (switch_is_traced(message)) {
        note_keeps(sw);
    }
    return lack->had + sw->keeps->wanted_count;
}

/* ---- confirmations ---- */

void keep_confirm(tm_switch *sw, uint32_t connection, uint64_t counter, tm_stored stored) {
    tm_keeps *keeps = sw->keeps;
    if (stored == STORED_NOT || keeps->last_n <= keeps->committed || TM_BREAKS(ANSWER_EARLY)) {
        switch_confirm_run(sw, connection, counter, counter, stored);
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
                    .stored = (uint8_t)stored,
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
