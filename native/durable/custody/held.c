/* held.c - see held.h.
 *
 * Law: a message is confirmed as held when its record is on disk here, and each home that the record is for has
 * acknowledged it; of the homes of one durable subscription with copies_min, as many of them. One that was given up for
 * a home that it needs is refused (C8). Its publisher may publish it again: it is stored
 * for its homes again, which know its id (C11). One that is still awaited is not stored again; its answer goes to the
 * connection on which it came last. Only the publisher that sent a message gets its answer.
 */
#include "durable/custody/held.h"

#include "durable/core/confirm.h"
#include "switch/connections/connection.h"
#include "switch/connections/control.h"

bool durable_is_awaited(tm_switch *sw, const tm_message *message) {
    tm_held_all *held = &sw->durables->held;
    tm_stored_id id = durable_id_of(message->frame);
    uint32_t row = tm_held_find(held, id.origin, id.number);
    if (row != HELD_NONE) {
        held->rows[row].connection = message->from;
    }
    return row != HELD_NONE;
}

/* Add a claim for `needed` of the homes of a set; false: the message has HELD_CLAIMS_MAX others. */
static bool claim(tm_homes *homes, const tm_copy_set *set, uint32_t needed, uint32_t *places, tm_held *message) {
    uint16_t known = 0;
    bool are_known = true;
    for (uint32_t i = 0; i < set->home_count; i++) {
        uint32_t place = homes->rows[set->homes[i]]->place;
        are_known = are_known && place != HELD_NO_PLACE;
        known |= place != HELD_NO_PLACE ? (uint16_t)(1U << place) : 0;
    }
    for (uint32_t i = 0; i < message->claim_count && are_known; i++) {
        tm_held_claim *other = &message->claims[i];
        if (other->places == known) {
            other->needed = other->needed > needed ? other->needed : (uint16_t)needed;
            return true;
        }
    }
    if (message->claim_count == HELD_CLAIMS_MAX) {
        return false;
    }
    for (uint32_t i = 0; i < set->home_count; i++) {
        tm_home *home = homes->rows[set->homes[i]];
        home->place = home->place != HELD_NO_PLACE ? home->place : (*places)++;
        known |= (uint16_t)(1U << home->place);
    }
    message->claims[message->claim_count++] = (tm_held_claim){known, (uint16_t)needed};
    return true;
}

/* Write what the current message needs of copies to its claims; past HELD_CLAIMS_MAX it needs each home of a set.
 * false: fewer homes have a copy than it needs. */
static bool claim_copies(tm_homes *homes, tm_held *message) {
    const tm_copies *copies = &homes->copies;
    uint32_t places = 0;
    for (uint32_t i = 0; i < copies->wanted_count; i++) {
        const tm_copy_set *set = &copies->sets[copies->wanted[i]];
        uint32_t needed = set->copies_min - (set->is_here && set->copies_min > 0);
        if (set->home_count < needed) {
            return false;
        }
        if (needed > 0 && !claim(homes, set, needed, &places, message)) {
            for (uint32_t at = 0; at < set->home_count; at++) {
                homes->rows[set->homes[at]]->is_sole = true;
            }
        }
    }
    return true;
}

tm_homes_awaited durable_await_homes(tm_switch *sw, tm_held *message) {
    tm_durables *durables = sw->durables;
    tm_homes *homes = &durables->homes;
    tm_held_all *held = &durables->held;
    uint64_t n = durables->last_n;
    if (!claim_copies(homes, message)) {
        homes->stats.not_held++;
        return HOMES_TOO_FEW;
    }
    uint32_t row = tm_held_begin(held, message);
    bool waits = row != HELD_NONE && tm_held_mark_at(held, &durables->written, n, row, HELD_NO_PLACE);
    for (uint32_t i = 0; i < homes->wanted_count && waits; i++) {
        tm_home *home = homes->rows[homes->wanted[i]];
        waits = !home->is_sole || tm_held_mark_at(held, &home->held, n, row, HELD_NO_PLACE);
        if (waits && home->place != HELD_NO_PLACE) {
            waits = tm_held_mark_at(held, &home->held, n, row, home->place);
        }
    }
    return waits ? HOMES_AWAITED : HOMES_WITHOUT_ROOM;
}

void durable_release_held(tm_switch *sw, tm_held_queue *queue, uint64_t have) {
    tm_durables *durables = sw->durables;
    uint32_t confirming = CONNECTION_NONE;
    uint64_t now_us = queue->first < queue->end ? tm_clock_ns() / 1000 : 0;
    tm_held held;
    while (tm_held_take(&durables->held, queue, have, &held)) {
        if (durable_is_publisher(sw, held.connection, held.origin)) {
            durable_confirm_run(sw, held.connection, held.counter, 1, STORED, &confirming);
        }
        durables->homes.stats.held++;
        durables->homes.stats.held_us += now_us - held.since_us;
    }
    durable_send_confirmations(sw, &confirming);
}

static void refuse(tm_switch *sw, const tm_held *held, wire_refusal code, const char *text) {
    sw->durables->homes.stats.not_held++;
    if (durable_is_publisher(sw, held->connection, held->origin)) {
        switch_refuse(sw, held->connection, held->counter, code, text, 0);
    }
}

void durable_refuse_held(tm_switch *sw, tm_held_queue *queue, tm_held_loss loss, wire_refusal code, const char *text) {
    tm_held held;
    while (tm_held_lose(&sw->durables->held, queue, &loss, &held)) {
        refuse(sw, &held, code, text);
    }
}
