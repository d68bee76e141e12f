/* waiting.c - see waiting.h.
 *
 * Law: a message is confirmed as stored when its record is on disk here, and as held when each home has it, too
 * (custody/held.c). Only the publisher that sent a message gets its answer.
 */
#include "durable/waiting.h"

#include "base/tested.h"
#include "durable/consumers/consumers.h"
#include "durable/core/confirm.h"
#include "durable/core/table.h"
#include "durable/custody/held.h"
#include "durable/messages/answers.h"
#include "durable/totals.h"
#include "switch/connections/connection.h"
#include "switch/connections/control.h"

#define LOG_FAILED_TEXT "the log of this router cannot be written"

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

void durable_confirm_held(tm_switch *sw, const tm_message *message) {
    tm_durables *durables = sw->durables;
    tm_stored_id id = durable_id_of(message->frame);
    tm_held held = {
        .origin = id.origin, .counter = id.number, .since_us = durables->turn_us, .connection = message->from};
    if (durables->homes.wanted_count + durables->homes.copies.wanted_count == 0 || TM_BREAKS(HELD_AS_STORED)) {
        durable_confirm(sw, message->from, id.number, STORED);
        return;
    }
    if (durables->has_failed) {
        switch_refuse(sw, message->from, id.number, WIRE_REFUSED_LOG_FAILED, LOG_FAILED_TEXT, 0);
        return;
    }
    tm_homes_awaited awaited = durable_await_homes(sw, &held);
    if (awaited == HOMES_WITHOUT_ROOM) {
        switch_refuse(sw, message->from, id.number, WIRE_REFUSED_OVERLOADED,
                      "stored, but the confirmation cannot wait for its homes: try again", 0);
    } else if (awaited == HOMES_TOO_FEW) {
        switch_refuse(sw, message->from, id.number, WIRE_REFUSED_NOT_HELD,
                      "stored, but fewer routers than copies_min have a copy of a durable subscription", 0);
    }
}

static void confirm(tm_switch *sw, const tm_wait *wait, uint64_t now_us, uint32_t *confirming) {
    tm_durables *durables = sw->durables;
    if (durable_is_publisher(sw, wait->connection, wait->origin)) {
        durable_confirm_run(sw, wait->connection, wait->number, wait->count, (tm_storage)wait->stored, confirming);
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
    durable_send_confirmations(sw, &confirming);
    durable_release_held(sw, &durables->written, durables->committed);
}

/* ---- a failed log ---- */

static void refuse_run(tm_switch *sw, const tm_wait *wait) {
    for (uint32_t i = 0; i < wait->count && durable_is_publisher(sw, wait->connection, wait->origin); i++) {
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
    durable_refuse_held(sw, &durables->written, (tm_held_loss){.n = UINT64_MAX}, WIRE_REFUSED_LOG_FAILED,
                        LOG_FAILED_TEXT);
}
