/* waiting.c - see waiting.h.
 *
 * Law: a message is confirmed as stored when its record is on disk here, and as held when each home that its record is
 * for has acknowledged it, too. One that was given up for a home is refused (C8). Its publisher may publish it again:
 * it is stored for its homes again, which know its id (C11). One that is still awaited is not stored again; its answer
 * goes to the connection on which it came last. Only the publisher that sent a message gets its answer.
 */
#include "durable/messages/waiting.h"

#include "base/tested.h"
#include "durable/consumers/consumers.h"
#include "durable/core/table.h"
#include "durable/messages/answers.h"
#include "durable/totals.h"
#include "switch/connections/connection.h"
#include "switch/connections/control.h"

#define LOG_FAILED_TEXT "the log of this router cannot be written"

static bool is_open_for(const tm_connection *connection, uint64_t publisher) {
    return connection->state == CONNECTION_OPEN && connection->admission.number == publisher;
}

/* ---- the disk of this router ---- */

void durable_confirm(tm_switch *sw, uint32_t connection, uint64_t counter, tm_storage stored) {
    tm_durables *durables = sw->durables;
    if (stored == STORED_NOT || durables->last_n <= durables->committed || TM_BREAKS(ANSWER_EARLY)) {
        switch_confirm_run(sw, connection, counter, counter, stored);
        return;
    }
    if (durables->has_failed) {
        switch_refuse(sw, connection, counter, WIRE_REFUSED_LOG_FAILED, LOG_FAILED_TEXT, 0);
        return;
    }
    tm_wait wait = {.n = durables->last_n,
                    .since_us = durables->turn_us,
                    .origin = switch_at(sw, connection)->admission.number,
                    .number = counter,
                    .kind = WAIT_CONFIRMATION,
                    .stored = (uint8_t)stored,
                    .connection = connection,
                    .count = 1};
    if (tm_waits_join(&durables->waits, &wait)) {
        return;
    }
    if (!tm_waits_reserve(&durables->waits)) {
        switch_refuse(sw, connection, counter, WIRE_REFUSED_OVERLOADED,
                      "stored, but the confirmation cannot wait for the disk: try again", 0);
        return;
    }
    tm_waits_add(&durables->waits, &wait);
}

/* Send what was confirmed for a connection, before another one is confirmed something. */
static void send_confirmations(tm_switch *sw, uint32_t *confirming) {
    if (*confirming != CONNECTION_NONE) {
        switch_send_confirmations(sw, *confirming);
        switch_drop_confirmations(sw);
        *confirming = CONNECTION_NONE;
    }
}

static void confirm_run(tm_switch *sw, uint32_t connection, uint64_t first, uint32_t count, tm_storage stored,
                        uint32_t *confirming) {
    if (*confirming != connection) {
        send_confirmations(sw, confirming);
        *confirming = connection;
    }
    switch_confirm_run(sw, connection, first, first + count - 1, stored);
}

static void confirm(tm_switch *sw, const tm_wait *wait, uint64_t now_us, uint32_t *confirming) {
    tm_durables *durables = sw->durables;
    if (is_open_for(switch_at(sw, wait->connection), wait->origin)) {
        confirm_run(sw, wait->connection, wait->number, wait->count, (tm_storage)wait->stored, confirming);
        durables->stats.confirmed += wait->count;
        durables->stats.commit_us = now_us - wait->since_us;
        durable_count_commits(durables, durables->stats.commit_us, wait->count);
    }
}

static void tell_loss(tm_switch *sw, const tm_wait *wait) {
    uint32_t slot = durable_slot(sw, wait->connection);
    tm_durable_account *account = slot != DURABLE_NONE ? durable_at(sw, slot)->account : NULL;
    bool is_unknown = wait->how == LEFT_DAMAGED && account != NULL && account->told_unknowns < wait->origin;
    if (account == NULL || (account->told[wait->how] >= wait->number && !is_unknown) ||
        (TM_BREAKS(LOSE_SILENTLY) && wait->how == LEFT_DROPPED)) {
        return;
    }
    account->told[wait->how] = wait->number * (TM_BREAKS(LOSE_TWICE) ? 2 : 1);
    account->told_unknowns = wait->how == LEFT_DAMAGED ? wait->origin : account->told_unknowns;
    for (uint32_t id = durable_at(sw, slot)->consumers; id != CONSUMER_NONE;
         id = durable_consumer(sw, id)->next_of_durable) {
        durable_tell_lost(sw, id, (tm_leaving)wait->how);
    }
}

void durable_release(tm_switch *sw) {
    tm_durables *durables = sw->durables;
    uint32_t confirming = CONNECTION_NONE;
    uint64_t now_us = tm_clock_ns() / 1000;
    tm_wait wait;
    while (tm_waits_take(&durables->waits, durables->committed, &wait)) {
        if (wait.kind == WAIT_CONFIRMATION) {
            confirm(sw, &wait, now_us, &confirming);
        } else if (wait.kind == WAIT_ANSWER) {
            durable_end_answer(sw, &wait, true);
        } else {
            tell_loss(sw, &wait);
        }
    }
    send_confirmations(sw, &confirming);
    durable_release_held(sw, &durables->written, durables->committed);
}

/* ---- the disks of homes ---- */

bool durable_is_awaited(tm_switch *sw, const tm_message *message) {
    tm_held_all *held = &sw->durables->held;
    tm_stored_id id = durable_id_of(message->frame);
    uint32_t row = tm_held_find(held, id.origin, id.number);
    if (row != HELD_NONE) {
        held->rows[row].connection = message->from;
    }
    return row != HELD_NONE;
}

/* Let a message wait for its homes and the disk here; false: there is no room for it. */
static bool await_homes(tm_switch *sw, const tm_held *message) {
    tm_durables *durables = sw->durables;
    const tm_homes *homes = &durables->homes;
    uint64_t n = durables->last_n;
    uint32_t row = tm_held_begin(&durables->held, message);
    bool waits = row != HELD_NONE && tm_held_mark_at(&durables->held, &durables->written, n, row);
    for (uint32_t i = 0; i < homes->wanted_count && waits; i++) {
        waits = tm_held_mark_at(&durables->held, &homes->rows[homes->wanted[i]]->held, n, row);
    }
    return waits;
}

void durable_confirm_held(tm_switch *sw, const tm_message *message) {
    tm_durables *durables = sw->durables;
    tm_stored_id id = durable_id_of(message->frame);
    tm_held held = {
        .origin = id.origin, .counter = id.number, .since_us = durables->turn_us, .connection = message->from};
    if (durables->homes.wanted_count == 0 || TM_BREAKS(HELD_AS_STORED)) {
        durable_confirm(sw, message->from, id.number, STORED);
    } else if (durables->has_failed) {
        switch_refuse(sw, message->from, id.number, WIRE_REFUSED_LOG_FAILED, LOG_FAILED_TEXT, 0);
    } else if (!await_homes(sw, &held)) {
        switch_refuse(sw, message->from, id.number, WIRE_REFUSED_OVERLOADED,
                      "stored, but the confirmation cannot wait for its homes: try again", 0);
    }
}

void durable_release_held(tm_switch *sw, tm_held_queue *queue, uint64_t have) {
    tm_durables *durables = sw->durables;
    uint32_t confirming = CONNECTION_NONE;
    uint64_t now_us = queue->first < queue->end ? tm_clock_ns() / 1000 : 0;
    tm_held held;
    while (tm_held_take(&durables->held, queue, have, &held)) {
        if (is_open_for(switch_at(sw, held.connection), held.origin)) {
            confirm_run(sw, held.connection, held.counter, 1, STORED, &confirming);
        }
        durables->homes.stats.held++;
        durables->homes.stats.held_us += now_us - held.since_us;
    }
    send_confirmations(sw, &confirming);
}

static void refuse(tm_switch *sw, const tm_held *held, wire_refusal code, const char *text) {
    sw->durables->homes.stats.not_held++;
    if (is_open_for(switch_at(sw, held->connection), held->origin)) {
        switch_refuse(sw, held->connection, held->counter, code, text, 0);
    }
}

void durable_refuse_held(tm_switch *sw, tm_held_queue *queue, uint64_t after, uint64_t n, wire_refusal code,
                         const char *text) {
    uint32_t passed = 0;
    tm_held held;
    while (tm_held_refuse(&sw->durables->held, queue, after, n, &passed, &held)) {
        refuse(sw, &held, code, text);
    }
}

/* ---- a failed log ---- */

static void refuse_run(tm_switch *sw, const tm_wait *wait) {
    const tm_connection *connection = switch_at(sw, wait->connection);
    for (uint32_t i = 0; i < wait->count && is_open_for(connection, wait->origin); i++) {
        switch_refuse(sw, wait->connection, wait->number + i, WIRE_REFUSED_LOG_FAILED, LOG_FAILED_TEXT, 0);
    }
}

void durable_refuse_waiting(tm_switch *sw) {
    tm_durables *durables = sw->durables;
    tm_wait wait;
    durables->has_failed = true;
    while (tm_waits_take(&durables->waits, UINT64_MAX, &wait)) {
        if (wait.kind == WAIT_CONFIRMATION) {
            refuse_run(sw, &wait);
        } else if (wait.kind == WAIT_ANSWER) {
            durable_end_answer(sw, &wait, false);
        }
    }
    durable_refuse_held(sw, &durables->written, 0, UINT64_MAX, WIRE_REFUSED_LOG_FAILED, LOG_FAILED_TEXT);
}
