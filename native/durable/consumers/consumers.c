/* consumers.c - see consumers.h.
 *
 * Law: a consumer ends with its connection at the latest. Its messages are then ready for other consumers, and their
 * attempts do not count as failed. Only if the peer disconnects or is silent, the attempt that the consumer has had for
 * the longest time counts as failed, because that message may have ended the consumer.
 */
#include "durable/consumers/consumers.h"

#include "base/grow.h"
#include "base/tested.h"
#include "durable/consumers/give.h"
#include "durable/consumers/hands.h"
#include "durable/core/attempts.h"
#include "durable/core/elsewhere.h"
#include "durable/core/record.h"
#include "durable/core/table.h"
#include "durable/messages/losses.h"
#include "durable/tables/index.h"
#include "switch/access/access.h"
#include "switch/connections/connection.h"
#include "switch/connections/control.h"
#include "switch/connections/events.h"
#include "switch/lifecycle.h"

uint32_t durable_consumer_of(const tm_switch *sw, uint32_t connection, uint32_t id) {
    uint32_t consumer = sw->connections[connection].consumers;
    while (consumer != 0 && durable_consumer(sw, consumer - 1)->id != id) {
        consumer = durable_consumer(sw, consumer - 1)->next_of_connection;
    }
    return consumer == 0 ? CONSUMER_NONE : consumer - 1;
}

static uint32_t consumers_of(const tm_switch *sw, uint32_t connection) {
    uint32_t count = 0;
    for (uint32_t at = sw->connections[connection].consumers; at != 0;
         at = durable_consumer(sw, at - 1)->next_of_connection) {
        count++;
    }
    return count;
}

/* ---- losses ---- */

static wire_loss reason_of(tm_leaving how) {
    return how == LEFT_EXPIRED   ? WIRE_LOST_EXPIRED
           : how == LEFT_DROPPED ? WIRE_LOST_LOG_FULL
           : how == LEFT_DAMAGED ? WIRE_LOST_LOG_DAMAGED
           : how == LEFT_SKIPPED ? WIRE_LOST_SKIPPED
                                 : WIRE_LOST_UNDELIVERABLE;
}

void durable_tell_lost(tm_switch *sw, uint32_t id, tm_leaving how) {
    const tm_consumer *consumer = durable_consumer(sw, id);
    const tm_durable *durable = durable_at(sw, consumer->durable);
    const tm_durable_account *account = durable_account(durable);
    wire_begin(&sw->writer, WIRE_LOST);
    bool is_damage = how == LEFT_DAMAGED;
    wire_array(&sw->writer, is_damage ? 12 : 9);
    wire_unsigned(&sw->writer, account->told[how]);
    wire_unsigned(&sw->writer, account->counts.bytes[how]);
    wire_unsigned(&sw->writer, reason_of(how));
    wire_array(&sw->writer, 1);
    wire_unsigned(&sw->writer, consumer->id);
    wire_unsigned(&sw->writer, 0);
    wire_boolean(&sw->writer, false);
    wire_array(&sw->writer, 0);
    wire_unsigned(&sw->writer, 0);
    wire_boolean(&sw->writer, true);
    if (is_damage) {
        bool is_doubtful = account->told_unknowns > 0;
        wire_unsigned(&sw->writer, account->told_unknowns);
        wire_unsigned(&sw->writer, is_doubtful ? account->counts.unknown_first : 0);
        wire_unsigned(&sw->writer, is_doubtful ? account->counts.unknown_last : 0);
    }
    wire_end(&sw->writer);
    durable_record_told(sw, durable, how, consumer->connection);
    switch_queue_control(sw, consumer->connection,
                         TM_LANE_ORDERED); /* without memory, the next total covers this loss as well */
}

/* ---- attaching ---- */

static uint32_t new_consumer(tm_durables *durables) {
    uint32_t id = durables->consumer_free;
    if (id != CONSUMER_NONE) {
        durables->consumer_free = durables->consumers[id].next_free;
        return id;
    }
    if (durables->consumer_count == durables->consumer_capacity &&
        !tm_grow(&durables->memory, TM_COLD, &durables->consumers, sizeof *durables->consumers,
                 &durables->consumer_capacity, durables->consumer_count + 1)) {
        return CONSUMER_NONE;
    }
    return durables->consumer_count++;
}

static void free_consumer(tm_durables *durables, uint32_t id) {
    durables->consumers[id] = (tm_consumer){.durable = DURABLE_NONE, .next_free = durables->consumer_free};
    durables->consumer_free = id;
}

/* Skip, count and report the messages up to a position that are not out at a consumer. false: no memory to record it;
 * the remaining ones stay. */
static bool skip_to(tm_switch *sw, uint32_t slot, uint64_t after) {
    const tm_index *index = &durable_at(sw, slot)->index;
    uint32_t end = after < UINT64_MAX ? tm_index_from(index, after + 1) : index->end;
    for (uint32_t at = index->first; at < end && at < index->end; at++) {
        const tm_stored_row *row = &index->rows[at];
        if (row->state == ROW_UNKNOWN || row->state == ROW_UNKNOWN_TOLD) {
            durable_drop_unknown(sw, slot, at);
            continue;
        }
        bool is_out =
            row->attempt != STORED_NO_ATTEMPT && sw->durables->attempts.rows[row->attempt].state == ATTEMPT_OUT;
        if (row->state == ROW_OPEN && !is_out && !durable_skip(sw, slot, at)) {
            return false;
        }
    }
    return true;
}

static void begin_consumer(tm_switch *sw, uint32_t slot, uint32_t id, uint32_t connection, uint32_t name) {
    tm_durable *durable = durable_at(sw, slot);
    *durable_consumer(sw, id) = (tm_consumer){.durable = slot,
                                              .connection = connection,
                                              .id = name,
                                              .may_get = true,
                                              .attempts = ATTEMPT_NONE,
                                              .replayed_to = UINT64_MAX,
                                              .next_of_durable = durable->consumers,
                                              .next_of_connection = switch_at(sw, connection)->consumers};
    durable->consumers = id;
    durable->consumer_count++;
    switch_at(sw, connection)->consumers = id + 1;
    sw->durables->consumer_live++;
}

int tm_durable_consume(tm_switch *sw, uint32_t number, uint32_t connection, uint32_t name, uint64_t credit,
                       uint64_t after, uint32_t latest) {
    if (!switch_knows(sw, connection) || sw->durables == NULL || switch_at(sw, connection)->state != CONNECTION_OPEN ||
        switch_is_link(switch_at(sw, connection)) || durable_consumer_of(sw, connection, name) != CONSUMER_NONE) {
        return TM_MISUSED;
    }
    uint32_t slot = durable_slot(sw, number);
    if (slot == DURABLE_NONE || slot == DURABLE_CATALOG || durable_at(sw, slot)->is_closing) {
        return TM_ABSENT;
    }
    if (durable_at(sw, slot)->consumer_count >= TM_DURABLE_CONSUMERS_MAX ||
        consumers_of(sw, connection) >= TM_DURABLE_CONSUMERS_PER_CONNECTION) {
        return TM_TOO_MANY;
    }
    uint32_t id = new_consumer(sw->durables);
    if (id == CONSUMER_NONE) {
        return TM_NO_MEMORY;
    }
    switch_begin(sw);
    if (!skip_to(sw, slot, after)) {
        free_consumer(sw->durables, id);
        return TM_NO_MEMORY;
    }
    begin_consumer(sw, slot, id, connection, name);
    durable_consumer(sw, id)->credit = credit;
    durable_consumer(sw, id)->replayed_to = latest ? 0 : UINT64_MAX;
    for (unsigned how = 0; how < LEFT_WAYS; how++) {
        const tm_durable_account *account = durable_account(durable_at(sw, slot));
        bool is_doubtful = how == LEFT_DAMAGED && account->told_unknowns > 0;
        if (durable_is_loss((tm_leaving)how) && (account->told[how] > 0 || is_doubtful)) {
            durable_tell_lost(sw, id, (tm_leaving)how);
        }
    }
    bool is_told = durable_tell_unknowns(sw, id);
    if (!is_told) {
        durable_cancel(sw, id);
    }
    durable_make_due(sw, slot);
    durable_wake(sw);
    switch_finish(sw);
    return is_told ? TM_OK : TM_NO_MEMORY;
}

/* ---- detaching ---- */

static void unlink_consumer(tm_switch *sw, uint32_t id) {
    tm_consumer *consumer = durable_consumer(sw, id);
    uint32_t *of_durable = &durable_at(sw, consumer->durable)->consumers;
    while (*of_durable != id) {
        of_durable = &durable_consumer(sw, *of_durable)->next_of_durable;
    }
    *of_durable = consumer->next_of_durable;
    uint32_t *of_connection = &switch_at(sw, consumer->connection)->consumers;
    while (*of_connection != id + 1) {
        of_connection = &durable_consumer(sw, *of_connection - 1)->next_of_connection;
    }
    *of_connection = consumer->next_of_connection;
}

void durable_cancel(tm_switch *sw, uint32_t id) {
    tm_consumer *consumer = durable_consumer(sw, id);
    uint32_t slot = consumer->durable;
    while (consumer->attempts != ATTEMPT_NONE) {
        uint32_t attempt = consumer->attempts;
        if (sw->durables->attempts.rows[attempt].state == ATTEMPT_OUT) {
            durable_make_ready(sw, slot, attempt);
        }
        durable_resume(sw, attempt);
    }
    unlink_consumer(sw, id);
    free_consumer(sw->durables, id);
    sw->durables->consumer_live--;
    durable_at(sw, slot)->consumer_count--;
    durable_make_due(sw, slot);
    durable_wake(sw);
}

/* Return the attempt that a consumer has had longest; the list begins with the newest. */
static uint32_t oldest_of(const tm_switch *sw, const tm_consumer *consumer) {
    uint32_t oldest = ATTEMPT_NONE;
    for (uint32_t id = consumer->attempts; id != ATTEMPT_NONE; id = sw->durables->attempts.rows[id].next) {
        bool is_older = oldest == ATTEMPT_NONE || !TM_BREAKS(BLAME_NEWEST);
        oldest = sw->durables->attempts.rows[id].state == ATTEMPT_OUT && is_older ? id : oldest;
    }
    return oldest;
}

void durable_blame(tm_switch *sw, uint32_t connection) {
    static const uint8_t text[] = "its consumers disconnected before they acknowledged it";
    for (uint32_t at = switch_at(sw, connection)->consumers; at != 0;
         at = durable_consumer(sw, at - 1)->next_of_connection) {
        uint32_t slot = durable_consumer(sw, at - 1)->durable;
        uint32_t oldest = oldest_of(sw, durable_consumer(sw, at - 1));
        if (oldest != ATTEMPT_NONE && !TM_BREAKS(BLAME_NOBODY)) {
            tm_stored_row *row = tm_index_find(&durable_at(sw, slot)->index, sw->durables->attempts.rows[oldest].n);
            durable_fail(sw, slot, row, text, sizeof text - 1);
        }
    }
}

void durable_leave_all(tm_switch *sw, uint32_t connection) {
    while (switch_at(sw, connection)->consumers != 0) {
        durable_cancel(sw, switch_at(sw, connection)->consumers - 1);
    }
}

void durable_go_on(tm_switch *sw, uint32_t connection) {
    for (uint32_t at = switch_at(sw, connection)->consumers; at != 0;
         at = durable_consumer(sw, at - 1)->next_of_connection) {
        uint32_t slot = durable_consumer(sw, at - 1)->durable;
        if (durable_at(sw, slot)->is_blocked) {
            durable_make_due(sw, slot);
            durable_wake(sw);
        }
    }
}

int tm_durable_cancel(tm_switch *sw, uint32_t connection, uint32_t name) {
    if (!switch_knows(sw, connection) || sw->durables == NULL) {
        return TM_MISUSED;
    }
    uint32_t consumer = durable_consumer_of(sw, connection, name);
    if (consumer == CONSUMER_NONE) {
        return TM_ABSENT;
    }
    durable_cancel(sw, consumer);
    return TM_OK;
}

int tm_durable_guard(tm_switch *sw, uint32_t connection, uint32_t name, uint32_t hand) {
    if (!switch_knows(sw, connection) || sw->durables == NULL || !switch_knows_guard(sw, hand)) {
        return TM_MISUSED;
    }
    uint32_t consumer = durable_consumer_of(sw, connection, name);
    if (consumer == CONSUMER_NONE) {
        return TM_ABSENT;
    }
    durable_consumer(sw, consumer)->hand = hand;
    durable_look_again(sw, durable_consumer(sw, consumer)->durable);
    return TM_OK;
}
