/* store.c - see store.h.
 *
 * Law: a subscription without room, or a log that takes nothing, stops no message: it goes to all other receivers, and
 * once to each, however often it is published; which subscriptions lack it is recorded before any copy is queued
 * (lack.c). Memory is reserved before the record is appended. The publisher of a stored message is subject to
 * backpressure from then on (backpressure.c). A dry run stores nothing: its trail names the subscriptions that match.
 */
#include "durable/messages/store.h"

#include "base/grow.h"
#include "base/tested.h"
#include "durable/core/append.h"
#include "durable/core/bounds.h"
#include "durable/core/record.h"
#include "durable/custody/bound.h"
#include "durable/custody/chains.h"
#include "durable/custody/homes.h"
#include "durable/messages/lack.h"
#include "durable/messages/rows.h"
#include "durable/tables/incomplete.h"
#include "durable/tables/waits.h"
#include "switch/connections/connection.h"
#include "switch/connections/control.h"
#include "switch/observe/trail.h"

/* Return the set of copies of the subscription that a row of a match belongs to, at a home. */
static uint32_t set_of(const tm_switch *sw, uint32_t home, size_t row) {
    const tm_copies *copies = &sw->durables->homes.copies;
    uint32_t subscription = sw->subscriptions.kept[sw->rows.handles[row]].subscription;
    return copies->stated_count > 0 ? tm_copies_at(copies, home, sw->subscriptions.rows[subscription].id)
                                    : COPY_SET_NONE;
}

/* Collect the subscriptions among the rows of a match, each once, except those that have the message (`had`, or NULL);
 * and, of a message that entered here (`enters`), the homes of those elsewhere: again if its publisher waits for them,
 * as it may have been given up since. */
static void find_wanted(tm_switch *sw, const tm_message *message, size_t count, const tm_incomplete *had, bool enters) {
    tm_durables *durables = sw->durables;
    durables->wanted_count = durables->lack.had = 0;
    durables->homes.wanted_count = durables->homes.copies.wanted_count = 0;
    durables->homes.has_more = durables->lack.lacks_homes = false;
    durables->lack.full = 0;
    durables->lack.why = TM_OK;
    bool have_homes = had != NULL && tm_incomplete_has(had, DURABLE_HOMES) && !message->for_every_home;
    durables->stamp++;
    for (size_t row = 0; row < count; row++) {
        const tm_subscriber *subscriber = switch_subscriber(sw, sw->rows.groups[row]);
        if (subscriber->state == SUBSCRIBER_HOME && enters && !have_homes) {
            uint32_t set = message->for_every_home ? set_of(sw, subscriber->durable, row) : COPY_SET_NONE;
            durable_want_home(&durables->homes, subscriber->durable, set, durables->stamp);
        }
        if (subscriber->state != SUBSCRIBER_DURABLE) {
            continue;
        }
        tm_durable *durable = durables->rows[subscriber->durable];
        if (durable->stamp != durables->stamp) {
            durable->stamp = durables->stamp;
            if (message->for_every_home && durable->policy->copies_min > 0) {
                tm_copies_want_here(&durables->homes.copies, durable->policy->copies, durables->stamp);
            }
            if (message->was_stored || (had != NULL && tm_incomplete_has(had, durable->number))) {
                durables->lack.had++;
            } else {
                durables->wanted_slots[durables->wanted_count++] = subscriber->durable;
            }
        }
    }
    durables->lack.homes = durables->homes.wanted_count;
    durables->lack.had += have_homes;
}

/* Leave out homes without room, and those that have a message that was refused for want of it (`had`), which need none:
 * but all of them wait for it once there is room, if its publisher waits for them. */
static void leave_out_homes(tm_switch *sw, const tm_message *message, const tm_incomplete *had) {
    tm_homes *homes = &sw->durables->homes;
    tm_durable_lack *lack = &sw->durables->lack;
    uint32_t with_room = 0;
    for (uint32_t i = 0; i < homes->wanted_count; i++) {
        tm_home *home = homes->rows[homes->wanted[i]];
        bool has_it = had != NULL && tm_incomplete_has(had, DURABLE_UNACKED | homes->wanted[i]);
        if (has_it && !message->for_every_home) {
            lack->had++;
        } else if (durable_is_full(homes, home, message->size)) {
            home->refused++;
            lack->full++;
            lack->full_home = homes->wanted[i];
        } else {
            homes->wanted[with_room++] = homes->wanted[i];
        }
    }
    homes->wanted_count = 0;
    bool is_for_all = message->for_every_home && lack->full == 0;
    for (uint32_t i = 0; i < with_room; i++) {
        bool has_it = had != NULL && !is_for_all && tm_incomplete_has(had, DURABLE_UNACKED | homes->wanted[i]);
        lack->had += has_it;
        homes->wanted[homes->wanted_count] = homes->wanted[i];
        homes->wanted_count += !has_it;
    }
    lack->homes = homes->wanted_count;
}

/* Compose the stored frame: a PUBLISH, stamped, and without ROUTE or the CUSTODY of a DIRECTED; borrowed until the next
 * one, NULL: no memory. */
static const uint8_t *compose(tm_switch *sw, const tm_message *message, uint32_t *size) {
    tm_durables *durables = sw->durables;
    *size = message->size - message->route_bytes;
    if (*size > durables->frame_capacity &&
        !tm_grow(&durables->memory, TM_COLD, &durables->frame, 1, &durables->frame_capacity, *size)) {
        return NULL;
    }
    uint8_t *out = durables->frame;
    memcpy(out, message->frame, WIRE_HEADER_BYTES);
    wire_store32(out, *size);
    out[WIRE_KIND] = WIRE_PUBLISH;
    out[WIRE_HOPS] = message->hops;
    wire_store64(out + WIRE_TRANSIT, message->source);
    wire_store64(out + WIRE_TRANSIT + 8, message->epoch);
    wire_store64(out + WIRE_TRANSIT + 16, message->counter);
    wire_store16(out + WIRE_EXTENSION_SIZE, (uint16_t)(message->extension_size - message->route_bytes));
    memcpy(out + WIRE_HEADER_BYTES, message->frame + WIRE_HEADER_BYTES + message->route_bytes,
           *size - WIRE_HEADER_BYTES);
    return out;
}

/* true if consumers here, and the homes that want the message, can get it. */
static bool is_deliverable(const tm_homes *homes, const tm_message *message) {
    uint32_t more = DURABLE_DELIVER_BYTES;
    more = homes->wanted_count > 0 && more < WIRE_CUSTODY_BYTES ? WIRE_CUSTODY_BYTES : more;
    uint32_t extensions = message->extension_size - message->route_bytes + more;
    uint32_t size = message->size - message->route_bytes + more;
    return extensions <= WIRE_EXTENSIONS_MAX && size <= TM_FRAME_BYTES_MAX && !homes->has_more;
}

/* Move the subscriptions with room for the frame, and memory for its row, to the front of `wanted_slots`. Return how
 * many there are; `*has_memory`: none lacks memory. */
static uint32_t find_room(tm_switch *sw, const uint8_t *frame, uint32_t size, bool *has_memory) {
    tm_durables *durables = sw->durables;
    uint32_t with_room = 0;
    *has_memory = true;
    for (uint32_t i = 0; i < durables->wanted_count; i++) {
        uint32_t slot = durables->wanted_slots[i];
        tm_durable *durable = durables->rows[slot];
        bool has_room = durable->policy->overflow != TM_DURABLE_REFUSE || durable_has_room(sw, durable, size);
        if (has_room && durable_reserve(sw, durable, frame)) {
            durables->wanted_slots[i] = durables->wanted_slots[with_room];
            durables->wanted_slots[with_room++] = slot;
        } else {
            *has_memory = *has_memory && !has_room;
        }
    }
    return with_room;
}

/* Append one record for the first `count` of `wanted_slots` and for the homes; `*n` is its number. On entry `*n` is the
 * number in the chain by which the message arrives, 0: by none. */
static int append(tm_switch *sw, const uint8_t *frame, uint32_t size, uint32_t count, uint64_t *n) {
    tm_durables *durables = sw->durables;
    uint32_t claims = 0;
    for (uint32_t i = 0; i < count; i++) {
        const tm_durable *durable = durables->rows[durables->wanted_slots[i]];
        durables->wanted[claims++] = durable->number;
        if (durable_stores_past(durable)) {
            durables->wanted[claims++] = durable->number | DURABLE_UNACKED;
        }
    }
    if (claims > TM_LOG_DURABLES_MAX) {
        return TM_TOO_MANY;
    }
    durable_claim_homes(&durables->homes);
    bool is_partial = count < durables->wanted_count || durables->lack.full > 0;
    uint16_t flags = (is_partial ? TM_LOG_PARTIAL : 0) | (durables->lack.full > 0 ? TM_LOG_LACKS_HOME : 0);
    tm_log_entry entry = {.durables = durables->wanted,
                          .durable_count = (uint16_t)claims,
                          .body = frame,
                          .body_size = size,
                          .kind = TM_LOG_MESSAGE,
                          .flags = flags,
                          .from_router = *n != 0 ? tm_load64(frame + WIRE_TRANSIT) : 0,
                          .from_n = *n,
                          .homes = durables->homes.claims,
                          .home_count = (uint16_t)durables->homes.wanted_count,
                          .t_us = durables->turn_ms * 1000};
    return durable_append(sw, &entry, n);
}

static void put_rows(tm_switch *sw, const uint8_t *frame, uint32_t size, uint32_t count, uint64_t n) {
    tm_durables *durables = sw->durables;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = durables->wanted_slots[i];
        tm_stored_keys keys;
        tm_stored_row row = durable_row(sw, durable_at(sw, slot), n, durables->turn_ms, frame, size, &keys);
        row.place = durables->last_place;
        row.maybe_duplicate = (frame[WIRE_FLAGS] & WIRE_FLAG_RETRY) != 0;
        durable_record_stored(sw, durable_at(sw, slot), &row, &keys, durable_id_of(frame), FATE_BY_PUBLISHER);
        durable_put(sw, slot, &row, &keys, durable_id_of(frame));
    }
}

/* Store a composed frame for the subscriptions that have room, `*stored` of them, and for the homes. A message of a
 * chain (`n`) is not stored for some while others lack memory, as its entry sends it again. Results of the log, and
 * TM_NO_MEMORY. */
static int store_frame(tm_switch *sw, const tm_message *message, const uint8_t *frame, uint32_t size, uint64_t n) {
    bool has_memory;
    if (sw->durables->has_failed) {
        return TM_LOG_FAILED;
    }
    uint32_t count = find_room(sw, frame, size, &has_memory);
    if (n != 0 && !has_memory) {
        return TM_NO_MEMORY;
    }
    bool has_holders = count + sw->durables->homes.wanted_count > 0;
    int result = has_holders ? append(sw, frame, size, count, &n) : TM_OK;
    if (result == TM_OK) {
        put_rows(sw, frame, size, count, n);
        durable_depart(sw, message, frame, size, n);
        sw->durables->lack.stored = count;
        sw->durables->stats.stored += has_holders;
    }
    return result;
}

/* Store the message for the subscriptions that have room, and record in `lack` which lack it and why. `n`: its number
 * in the chain by which it arrives, or 0. */
static void store(tm_switch *sw, const tm_message *message, uint64_t n) {
    tm_durables *durables = sw->durables;
    tm_durable_lack *lack = &durables->lack;
    uint32_t size = message->size;
    bool fits = is_deliverable(&durables->homes, message);
    const uint8_t *frame = fits ? compose(sw, message, &size) : NULL;
    lack->stored = 0;
    lack->why = frame != NULL ? store_frame(sw, message, frame, size, n) : fits ? TM_LOG_FULL : TM_TOO_MANY;
    lack->lacks_homes = lack->homes > 0 && lack->why != TM_OK;
    switch_at(sw, message->from)->is_storing = true;
}

/* Add the subscriptions that store the message, or would, to its trail. */
static void note_durables(tm_switch *sw) {
    const tm_durables *durables = sw->durables;
    for (uint32_t i = 0; i < durables->lack.stored; i++) {
        switch_trail_add(sw, TM_TRACE_DURABLES, durables->rows[durables->wanted_slots[i]]->number, 0);
    }
}

uint32_t durable_store(tm_switch *sw, const tm_message *message, size_t count) {
    tm_durable_lack *lack = &sw->durables->lack;
    const tm_incomplete *had = durable_find_incomplete(sw, message);
    find_wanted(sw, message, count, had, !switch_is_link(switch_at(sw, message->from)));
    if (sw->durables->homes.refuses && !message->is_dry) {
        leave_out_homes(sw, message, had);
    }
    if (durable_has_elsewhere(sw, message)) {
        lack->had += sw->durables->wanted_count;
        sw->durables->wanted_count = 0;
    }
    lack->stored = message->is_dry ? sw->durables->wanted_count : 0;
    if (!message->is_dry && sw->durables->wanted_count + lack->homes > 0) {
        store(sw, message, 0);
    }
    if (!message->is_dry) {
        durable_take_lack(sw, message);
    }
    if (lack->stored > 0 && switch_is_link(switch_at(sw, message->from))) {
        durable_note_stored_id(sw, message); /* so that it is known when a chain, or its publisher, brings it */
    }
    if (switch_is_traced(message)) {
        note_durables(sw);
    }
    return lack->had + sw->durables->wanted_count + lack->homes + lack->full;
}

tm_arriving durable_store_arriving(tm_switch *sw, const tm_message *message, size_t count, uint64_t n) {
    const tm_durable_lack *lack = &sw->durables->lack;
    const tm_incomplete *had = durable_find_incomplete(sw, message);
    bool is_again = had != NULL;
    find_wanted(sw, message, count, had, false);
    if (sw->durables->wanted_count == 0) {
        sw->durables->lack.stored = 0;
        return ARRIVING_PASSES;
    }
    if (!tm_custody_ids_reserve(&sw->durables->arrivals.ids)) {
        return ARRIVING_FAILS;
    }
    store(sw, message, n);
    if (lack->why != TM_OK && lack->why != TM_TOO_MANY) {
        return ARRIVING_FAILS;
    }
    durable_take_lack(sw, message);
    if (lack->stored == 0) {
        return ARRIVING_PASSES;
    }
    tm_stored_id id = durable_id_of(message->frame);
    if (!is_again || !tm_custody_ids_has(&sw->durables->arrivals.ids, id.origin, id.number)) {
        durable_note_stored_id(sw, message);
    }
    return ARRIVING_STORED;
}
