/* subscriber.c - see subscriber.h. */
#include "switch/subscribers/subscriber.h"

#include "base/clock.h"
#include "base/grow.h"
#include "switch/connections/outbox.h"
#include "switch/state.h"
#include "switch/subscribers/guarded.h"
#include "switch/subscribers/subscriptions.h"

static uint32_t subscribers_max(const tm_switch *sw) {
    return sw->options.subscribers_max != 0 ? sw->options.subscribers_max : sw->options.connections_max;
}

/* Grow every list that may hold all subscribers together with them, so that no later append can fail. */
static bool reserve_subscriber(tm_switch *sw) {
    if (sw->subscriber_free != SUBSCRIBER_NONE || sw->subscriber_count < sw->subscriber_capacity) {
        return true;
    }
    uint32_t old = sw->subscriber_capacity;
    uint32_t capacity = tm_next_capacity(old, sizeof *sw->subscribers);
    capacity = capacity < subscribers_max(sw) ? capacity : subscribers_max(sw);
    uint32_t *touched = TM_RESIZE(&sw->memory, TM_COLD, sw->touched, uint32_t, old, capacity);
    if (touched == NULL) {
        return false;
    }
    sw->touched = touched;
    tm_subscriber *subscribers = TM_RESIZE(&sw->memory, TM_COLD, sw->subscribers, tm_subscriber, old, capacity);
    if (subscribers == NULL) { /* shrink `touched` to its old capacity; the allocation stays at least that long */
        sw->touched = TM_RESIZE(&sw->memory, TM_COLD, sw->touched, uint32_t, capacity, old);
        return false;
    }
    sw->subscribers = subscribers;
    sw->subscriber_capacity = capacity;
    return true;
}

static tm_terms terms_of(const tm_admission *admission) {
    return (tm_terms){.queue_bytes_max = admission->queue_bytes_max,
                      .table_bytes_max = admission->table_bytes_max,
                      .frame_bytes_max = admission->frame_bytes_max,
                      .filters_max = admission->filters_max,
                      .unindexed_max = admission->unindexed_max,
                      .block_ms = admission->block_ms,
                      .policy = admission->policy};
}

int switch_new_subscriber(tm_switch *sw, const tm_admission *admission, uint32_t *id) {
    if (sw->subscriber_live == subscribers_max(sw)) {
        return TM_TOO_MANY;
    }
    if (!reserve_subscriber(sw)) {
        return TM_NO_MEMORY;
    }
    bool is_reused = sw->subscriber_free != SUBSCRIBER_NONE;
    *id = is_reused ? sw->subscriber_free : sw->subscriber_count;
    int result = tm_table_set_interface(sw->table, *id, TM_INTERFACE_CLIENT);
    if (result != TM_OK) {
        return result;
    }
    if (is_reused) {
        sw->subscriber_free = switch_subscriber(sw, *id)->next_free;
    } else {
        sw->subscriber_count++;
    }
    *switch_subscriber(sw, *id) = (tm_subscriber){.state = SUBSCRIBER_LIVE,
                                                  .connection = CONNECTION_NONE,
                                                  .terms = terms_of(admission),
                                                  .number = admission->number,
                                                  .subscriptions = SUBSCRIPTION_NONE};
    sw->subscriber_live++;
    return TM_OK;
}

void switch_end_subscriber(tm_switch *sw, uint32_t id) {
    tm_subscriber *subscriber = switch_subscriber(sw, id);
    if (!switch_is_stored(subscriber)) {
        subscriber->state = SUBSCRIBER_ENDED;
    }
}

/* A partly sent frame is lost with its socket, like those that the system still holds. */
void switch_detach_subscriber(tm_switch *sw, uint32_t id) {
    tm_subscriber *subscriber = switch_subscriber(sw, id);
    if (!switch_is_stored(subscriber)) {
        subscriber->state = SUBSCRIBER_ENDED;
        return;
    }
    tm_connection *connection = switch_at(sw, subscriber->connection);
    uint32_t begun = connection->outbox.ordered.boundary - connection->outbox.ordered.head;
    if (begun > 0) {
        switch_count_drop(sw, TM_DROP_CLOSED, 1, begun);
        connection->traffic.told.dropped[TM_DROP_CLOSED]++;
    }
    tm_outbox_keep(&connection->outbox, subscriber->waiting);
    connection->subscriber = SUBSCRIBER_NONE;
    subscriber->connection = CONNECTION_NONE;
}

int switch_attach_subscriber(tm_switch *sw, uint32_t id, uint32_t connection, const tm_admission *admission) {
    tm_subscriber *subscriber = switch_subscriber(sw, id);
    tm_connection *to = switch_at(sw, connection);
    if (subscriber->state != SUBSCRIBER_LIVE || subscriber->connection != CONNECTION_NONE ||
        subscriber->number != admission->number || subscriber->terms.frame_bytes_max > admission->frame_bytes_max) {
        return TM_MISUSED;
    }
    if (!tm_outbox_move(subscriber->waiting, &to->outbox, &sw->memory)) {
        return TM_NO_MEMORY;
    }
    subscriber->terms = terms_of(admission);
    subscriber->told_slow = false;
    subscriber->connection = connection;
    to->subscriber = id;
    to->traffic.queued_peak = tm_lane_size(&to->outbox.ordered);
    switch_mark_dirty(sw, connection);
    return TM_OK;
}

void switch_clear_subscriber(tm_switch *sw, tm_subscriber *subscriber) {
    switch_set_guarded(sw, (uint32_t)(subscriber - sw->subscribers), NULL);
    if (switch_is_stored(subscriber)) {
        tm_outbox_clear(subscriber->waiting, &sw->memory);
        TM_DELETE(&sw->memory, TM_COLD, subscriber->waiting, tm_outbox, 1);
        subscriber->waiting = NULL;
    }
}

void switch_drop_subscription(tm_switch *sw, tm_subscriber *subscriber, uint32_t row) {
    subscriber->table_bytes -= sw->subscriptions.rows[row].table_bytes;
    subscriber->unindexed_count -= sw->subscriptions.rows[row].is_unindexed;
    subscriber->filter_count -= tm_subscriptions_end(&sw->subscriptions, row, &subscriber->subscriptions);
    subscriber->subscription_count--;
}

uint32_t switch_forget_subscriber(tm_switch *sw, uint32_t id, uint32_t steps) {
    tm_subscriber *subscriber = switch_subscriber(sw, id);
    uint32_t before = subscriber->filter_count;
    uint64_t stop_ns = tm_clock_ns() + SWITCH_SLICE_NS;
    while (before - subscriber->filter_count < steps && subscriber->subscriptions != SUBSCRIPTION_NONE) {
        if (before > subscriber->filter_count && tm_clock_ns() > stop_ns) {
            break;
        }
        switch_drop_subscription(sw, subscriber, subscriber->subscriptions);
    }
    uint64_t unsettled;
    tm_table_settle(sw->table, 0, &unsettled); /* frees the memory of a large client's filters gradually */
    if (subscriber->subscriptions != SUBSCRIPTION_NONE) {
        return subscriber->filter_count;
    }
    tm_subscriptions_shrink(&sw->subscriptions);
    switch_clear_subscriber(sw, subscriber);
    *subscriber = (tm_subscriber){.connection = CONNECTION_NONE, .next_free = sw->subscriber_free};
    sw->subscriber_free = id;
    sw->subscriber_live--;
    return 0;
}

/* ---- without a connection ---- */

static int keep(tm_switch *sw, tm_subscriber *subscriber) {
    if (!switch_is_stored(subscriber)) {
        subscriber->waiting = TM_NEW(&sw->memory, TM_COLD, tm_outbox, 1);
    }
    return switch_is_stored(subscriber) ? TM_OK : TM_NO_MEMORY;
}

int tm_switch_subscriber_new(tm_switch *sw, const tm_admission *admission, uint32_t *subscriber) {
    if (sw == NULL || admission == NULL || subscriber == NULL || admission->policy > TM_SLOW_BLOCK ||
        admission->number == 0 || admission->is_link) {
        return TM_MISUSED;
    }
    int result = switch_new_subscriber(sw, admission, subscriber);
    if (result != TM_OK) {
        return result;
    }
    result = keep(sw, switch_subscriber(sw, *subscriber));
    if (result != TM_OK) {
        switch_forget_subscriber(sw, *subscriber, 0);
    }
    return result;
}

int tm_switch_keep(tm_switch *sw, uint32_t id) {
    if (!switch_knows_subscriber(sw, id) || switch_subscriber(sw, id)->state != SUBSCRIBER_LIVE) {
        return TM_MISUSED;
    }
    return keep(sw, switch_subscriber(sw, id));
}
