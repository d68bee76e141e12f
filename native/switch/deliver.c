/* deliver.c - see deliver.h.
 *
 * Law: a receiver gets one frame that lists all of its subscriptions that the message satisfies. A publisher gets its
 * own message only through subscriptions that request own messages.
 */
#include "switch/deliver.h"

#include "switch/connections/outbox.h"
#include "switch/connections/queue.h"
#include "switch/forwarding/group_choice.h"
#include "switch/observe/plant.h"
#include "switch/observe/trail.h"
#include "switch/subscribers/worker_groups.h"

/* Queue the frame for a subscriber with its `count` satisfied subscriptions, a list of rows that begins at `row`; true
 * if it was queued. */
static bool deliver(tm_switch *sw, const tm_message *message, uint32_t id, uint32_t row, uint32_t count) {
    uint32_t kept = message->extension_size - message->route_bytes; /* clients do not get ROUTE */
    uint32_t size = message->size - message->route_bytes;
    uint32_t fits = (WIRE_EXTENSIONS_MAX - kept - 4) / 4; /* further subscriptions are not listed */
    count = kept > WIRE_EXTENSIONS_MAX - 8 ? 0 : count < fits ? count : fits;
    uint32_t added = count > 0 ? 4 + 4 * count : 0;
    uint8_t *out = switch_queue_delivery(sw, id, size + added, message->from);
    if (out == NULL) {
        return false;
    }
    uint32_t connection = switch_subscriber(sw, id)->connection;
    memcpy(out, message->frame, WIRE_HEADER_BYTES);
    wire_store32(out, size + added);
    out[WIRE_KIND] = WIRE_DELIVER;
    out[WIRE_FLAGS] |= connection == message->from ? WIRE_FLAG_OWN : 0;
    out[WIRE_HOPS] = message->hops;
    wire_store64(out + WIRE_TRANSIT, message->source);
    wire_store64(out + WIRE_TRANSIT + 8, message->epoch);
    wire_store64(out + WIRE_TRANSIT + 16, message->counter);
    wire_store16(out + WIRE_EXTENSION_SIZE, (uint16_t)(kept + added));
    uint8_t *at = out + WIRE_HEADER_BYTES;
    if (count > 0) {
        wire_store16(at, WIRE_SATISFIED);
        wire_store16(at + 2, (uint16_t)(4 * count));
        at += 4;
        for (; count > 0; count--, row = sw->rows.next[row], at += 4) {
            wire_store32(at, sw->subscriptions.rows[sw->rows.groups[row]].id);
        }
    }
    memcpy(at, message->frame + WIRE_HEADER_BYTES + message->route_bytes, size - WIRE_HEADER_BYTES);
    sw->stats.deliveries++;
    if (connection != CONNECTION_NONE) {
        switch_at(sw, connection)->traffic.deliveries++;
    }
    return true;
}

/* Set `sw->stamp` to a number that no subscriber and no subscription carries yet. */
static void next_stamp(tm_switch *sw) {
    if (++sw->stamp != 0) {
        return;
    }
    for (uint32_t id = 0; id < sw->subscriber_count; id++) {
        switch_subscriber(sw, id)->stamp = 0;
    }
    for (uint32_t row = 0; row < sw->subscriptions.row_count; row++) {
        sw->subscriptions.rows[row].stamp = 0;
    }
    tm_worker_groups_forget_stamps(&sw->subscriptions.groups);
    sw->stamp = 1;
}

/* Add a row to the list of its receiver; the first row adds the receiver to `touched`. */
static void give(tm_switch *sw, uint32_t id, uint32_t row, uint32_t *receivers) {
    tm_subscriber *receiver = switch_subscriber(sw, id);
    if (receiver->stamp != sw->stamp) {
        receiver->stamp = sw->stamp;
        receiver->first_row = SUBSCRIPTION_NONE;
        sw->touched[(*receivers)++] = id;
    }
    sw->rows.next[row] = receiver->first_row;
    receiver->first_row = row;
}

/* Give each row of a worker group, in a list that begins at `row`, to its subscriber if that is the chosen member. */
static void give_chosen(tm_switch *sw, uint32_t row, uint32_t *receivers) {
    while (row != SUBSCRIPTION_NONE) {
        uint32_t next = sw->rows.next[row];
        const tm_subscription *subscription = &sw->subscriptions.rows[sw->rows.groups[row]];
        if (tm_worker_groups_chosen(&sw->subscriptions.groups, subscription->group) == subscription->subscriber) {
            give(sw, subscription->subscriber, row, receivers);
        }
        row = next;
    }
}

/* Return the bytes that wait for a member; UINT64_MAX if its queue has no room for the message. */
static uint64_t waiting_for(const tm_switch *sw, tm_subscriber *member, uint32_t size) {
    uint64_t waiting = tm_outbox_size(switch_outbox_of(sw, member));
    return waiting > 0 && waiting + size > member->terms.queue_bytes_max ? UINT64_MAX : waiting;
}

/* Turn rows (interface, handle) into one list of subscriptions for each receiver: afterwards `groups` of a row is its
 * subscription. Returns the number of receivers, which are in `touched`. */
static uint32_t collect(tm_switch *sw, const tm_message *message, size_t count) {
    uint32_t receivers = 0;
    uint32_t shared = SUBSCRIPTION_NONE; /* first row of a worker group's subscription */
    uint32_t publisher = switch_at(sw, message->from)->subscriber;
    next_stamp(sw);
    for (uint32_t row = 0; row < count; row++) {
        uint32_t id = sw->rows.groups[row];
        uint32_t held = sw->subscriptions.kept[sw->rows.handles[row]].subscription;
        tm_subscription *subscription = &sw->subscriptions.rows[held];
        tm_subscriber *receiver = switch_subscriber(sw, id);
        if (subscription->stamp == sw->stamp || receiver->state != SUBSCRIBER_LIVE ||
            (id == publisher && !subscription->own_messages)) {
            continue;
        }
        subscription->stamp = sw->stamp;
        sw->rows.groups[row] = held;
        if (subscription->group == WORKER_GROUP_NONE) {
            if (!message->was_here) {
                give(sw, id, row, &receivers);
            }
        } else if (switch_shares(sw, message, sw->subscriptions.groups.rows[subscription->group].number)) {
            tm_worker_groups_offer(&sw->subscriptions.groups, subscription->group, sw->stamp, id,
                                   waiting_for(sw, receiver, message->size), message->counter);
            sw->rows.next[row] = shared;
            shared = row;
        }
    }
    give_chosen(sw, shared, &receivers);
    return receivers;
}

static void note_satisfied(tm_switch *sw, const tm_subscriber *receiver, uint32_t row) {
    for (; row != SUBSCRIPTION_NONE; row = sw->rows.next[row]) {
        uint32_t id = sw->subscriptions.rows[sw->rows.groups[row]].id;
        switch_trail_add(sw, TM_TRACE_SATISFIED, receiver->number, id);
    }
}

static void note_receiver(tm_switch *sw, const tm_message *message, uint32_t id, uint32_t row, bool sent) {
    const tm_subscriber *receiver = switch_subscriber(sw, id);
    if (message->trail->is_traced) {
        note_satisfied(sw, receiver, row);
    }
    if (!message->is_dry) {
        switch_trail_add(sw, sent ? TM_TRACE_CLIENTS : TRAIL_DROPPED, receiver->number, receiver->connection);
    }
}

/* Deliver to one subscriber, unless the message is a dry run, and note the outcome in the trail. */
static void deliver_noted(tm_switch *sw, const tm_message *message, uint32_t id, uint32_t first_row) {
    uint32_t satisfied = 0;
    for (uint32_t row = first_row; row != SUBSCRIPTION_NONE; row = sw->rows.next[row]) {
        satisfied++;
    }
    bool sent = !message->is_dry && deliver(sw, message, id, first_row, satisfied);
    if (message->trail != NULL) {
        note_receiver(sw, message, id, first_row, sent);
    }
}

uint32_t switch_deliver_some(tm_switch *sw, const tm_message *message, size_t count) {
    if (message->choice_count > 0) {
        switch_begin_sharing(sw, message);
    }
    uint32_t receivers = collect(sw, message, count);
    for (uint32_t i = 0; i < receivers; i++) {
        uint32_t id = sw->touched[i];
        uint32_t row = switch_subscriber(sw, id)->first_row;
        uint32_t copies = sw->plant.bug == TM_PLANT_NONE ? 1 : switch_plant(sw, message, &id);
        for (; copies > 0; copies--) {
            deliver_noted(sw, message, id, row);
        }
    }
    if (message->choice_count > 0) {
        receivers += switch_end_sharing(sw, message);
    }
    return receivers;
}
