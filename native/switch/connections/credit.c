/* credit.c - see credit.h.
 *
 * Law: credit is withheld from a publisher only for receivers whose policy is to block and whose queue is half full,
 * until it is a quarter full and for at most their block_ms; and from a publisher of messages to be stored while the
 * disk is behind (durable/backpressure.c). A publisher whose rate is limited gets what its bucket holds (rate.c): when
 * half of its window is used and the bucket has enough of the rest, and at each tick.
 */
#include "switch/connections/credit.h"

#include "switch/connections/connection.h"
#include "switch/connections/control.h"
#include "switch/connections/outbox.h"
#include "switch/connections/rate.h"

#define WORTH_PART 4U /* a CREDIT frame between ticks grants at least this part of a window from a bucket */

/* true if credit stays withheld for `receiver`: it is live, its blocking time is not over and its queue is still long
 */
static bool still_blocks(tm_switch *sw, uint32_t receiver) {
    tm_subscriber *subscriber = switch_subscriber(sw, receiver);
    return subscriber->state == SUBSCRIBER_LIVE && !subscriber->block_spent &&
           sw->now_ms < subscriber->blocks_until_ms &&
           tm_lane_size(&switch_outbox_of(sw, subscriber)->ordered) > subscriber->terms.queue_bytes_max / 4;
}

static bool is_withheld(const tm_switch *sw, const tm_connection *connection) {
    return connection->state != CONNECTION_OPEN || sw->is_draining || connection->admission.credit_bytes == 0 ||
           switch_is_blocked(connection) || (connection->is_storing && (sw->holds & SWITCH_WAITS_FOR_LOG));
}

static void send_credit(tm_switch *sw, uint32_t id) {
    const tm_credit *credit = &switch_at(sw, id)->credit;
    wire_begin(&sw->writer, WIRE_CREDIT);
    wire_array(&sw->writer, 2);
    wire_unsigned(&sw->writer, credit->granted_frames);
    wire_unsigned(&sw->writer, credit->granted_bytes);
    wire_end(&sw->writer);
    switch_send_urgent(sw, id);
}

void switch_grant(tm_switch *sw, uint32_t id) {
    tm_connection *connection = switch_at(sw, id);
    const tm_admission *admission = &connection->admission;
    tm_credit *credit = &connection->credit;
    if (is_withheld(sw, connection) || (credit->granted_frames - credit->used_frames > admission->credit_frames / 2 &&
                                        credit->granted_bytes - credit->used_bytes > admission->credit_bytes / 2)) {
        return;
    }
    if (admission->bucket == TM_BUCKET_NONE) {
        credit->granted_frames = credit->used_frames + admission->credit_frames;
        credit->granted_bytes = credit->used_bytes + admission->credit_bytes;
    } else if (!switch_draw(sw, connection, WORTH_PART)) {
        return;
    }
    send_credit(sw, id);
}

void switch_grant_rated(tm_switch *sw) {
    for (uint32_t id = 0; id < sw->connection_count && sw->rated_count > 0; id++) {
        tm_connection *connection = switch_at(sw, id);
        if (connection->admission.bucket != TM_BUCKET_NONE && !is_withheld(sw, connection) &&
            switch_draw(sw, connection, 0)) {
            send_credit(sw, id);
        }
    }
}

static bool anybody_blocks(tm_switch *sw) {
    for (uint32_t id = 0; id < sw->subscriber_count; id++) {
        if (still_blocks(sw, id)) {
            return true;
        }
    }
    return false;
}

/* Remove the receivers that no longer block a publisher; true if none is left */
static bool is_released(tm_switch *sw, tm_credit *credit) {
    if (credit->blocker_count > BLOCKERS_MAX) {
        return !anybody_blocks(sw);
    }
    uint8_t left = 0;
    for (uint8_t i = 0; i < credit->blocker_count; i++) {
        if (still_blocks(sw, credit->blockers[i])) {
            credit->blockers[left++] = credit->blockers[i];
        }
    }
    credit->blocker_count = left == 0 ? credit->blocker_count : left; /* stays above 0 until switch_unblock resets it */
    return left == 0;
}

void switch_unblock(tm_switch *sw) {
    for (uint32_t id = 0; id < sw->connection_count && sw->blocked_count > 0; id++) {
        tm_connection *publisher = switch_at(sw, id);
        if (switch_is_blocked(publisher) && is_released(sw, &publisher->credit)) {
            publisher->credit.blocker_count = 0;
            sw->blocked_count--;
            switch_grant(sw, id);
        }
    }
}

static void note_blocker(tm_switch *sw, tm_credit *credit, uint32_t receiver) {
    for (uint8_t i = 0; i < credit->blocker_count && i < BLOCKERS_MAX; i++) {
        if (credit->blockers[i] == receiver) {
            return;
        }
    }
    sw->blocked_count += credit->blocker_count == 0;
    if (credit->blocker_count < BLOCKERS_MAX) {
        credit->blockers[credit->blocker_count++] = receiver;
    } else {
        credit->blocker_count = BLOCKERS_MAX + 1;
    }
}

bool switch_block(tm_switch *sw, uint32_t receiver, uint32_t publisher) {
    tm_subscriber *slow = switch_subscriber(sw, receiver);
    tm_connection *fast = switch_at(sw, publisher);
    if (slow->block_spent || fast->subscriber == receiver || switch_is_link(fast)) {
        return false;
    }
    if (slow->blocks_until_ms == 0) {
        slow->blocks_until_ms = sw->now_ms + slow->terms.block_ms;
    }
    if (sw->now_ms >= slow->blocks_until_ms) {
        slow->block_spent = true;
        return false;
    }
    note_blocker(sw, &fast->credit, receiver);
    return true;
}
