/* held.c - see held.h.
 *
 * Law: a message is confirmed as held when its record is on disk here, and each home that the record is for has
 * acknowledged it. One that was given up for a home is refused (C8). Its publisher may publish it again: it is stored
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

bool durable_await_homes(tm_switch *sw, const tm_held *message) {
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

void durable_refuse_held(tm_switch *sw, tm_held_queue *queue, uint64_t after, uint64_t n, wire_refusal code,
                         const char *text) {
    uint32_t passed = 0;
    tm_held held;
    while (tm_held_refuse(&sw->durables->held, queue, after, n, &passed, &held)) {
        refuse(sw, &held, code, text);
    }
}
