/* turn.c - see turn.h.
 *
 * Law: a turn ends every call that may have changed a subscription, and does once what is due for many messages: it
 * takes back overdue deliveries, applies retention and bounds, delivers, and appends done ranges. The log is flushed
 * once.
 */
#define _GNU_SOURCE
#include "durable/turn.h"

#include <sys/eventfd.h>

#include "base/tested.h"
#include "durable/keep/append.h"
#include "durable/keep/attempts.h"
#include "durable/keep/bodies.h"
#include "durable/keep/done.h"
#include "durable/keep/owners.h"
#include "durable/keep/table.h"
#include "durable/members/give.h"
#include "durable/members/members.h"
#include "durable/messages/answers.h"
#include "durable/messages/expiry.h"
#include "durable/messages/losses.h"
#include "durable/tables/attempts.h"
#include "durable/tables/index.h"
#include "durable/tables/times.h"
#include "durable/tables/waits.h"
#include "durable/totals.h"
#include "switch/connections/control.h"
#include "switch/connections/events.h"

/* ---- commits ---- */

/* Make subscriptions whose messages are on disk now due, so that they deliver. */
static void note_written(tm_switch *sw) {
    tm_keeps *keeps = sw->keeps;
    uint32_t left = 0;
    for (uint32_t i = 0; i < keeps->unwritten_count; i++) {
        uint32_t slot = keeps->unwritten[i];
        tm_keep *keep = keep_at(sw, slot);
        const tm_index *index = &keep->index;
        keep->is_unwritten =
            keep->is_live && index->end > index->first && index->rows[index->end - 1].n > keeps->committed;
        if (keep->is_unwritten) {
            keeps->unwritten[left++] = slot;
        }
        if (keep->is_live && keep->members != MEMBER_NONE) {
            keep_make_due(sw, slot);
        }
    }
    keeps->unwritten_count = left;
}

static void confirm(tm_switch *sw, const tm_wait *wait, uint64_t now_us, uint32_t *confirming) {
    tm_keeps *keeps = sw->keeps;
    const tm_connection *connection = switch_at(sw, wait->connection);
    if (connection->state != CONNECTION_OPEN || connection->admission.number != wait->origin) {
        return;
    }
    if (*confirming != wait->connection && *confirming != CONNECTION_NONE) {
        switch_send_confirmations(sw, *confirming);
        switch_drop_confirmations(sw);
    }
    *confirming = wait->connection;
    switch_confirm_run(sw, wait->connection, wait->number, wait->number + wait->count - 1, (tm_stored)wait->stored);
    keeps->stats.confirmed += wait->count;
    keeps->stats.commit_us = now_us - wait->since_us;
    keep_count_commits(keeps, keeps->stats.commit_us, wait->count);
}

static void tell_loss(tm_switch *sw, const tm_wait *wait) {
    uint32_t slot = keep_slot(sw, wait->connection);
    tm_keep_account *account = slot != KEEP_NONE ? keep_at(sw, slot)->account : NULL;
    bool is_doubt = wait->how == LEFT_DAMAGED && account != NULL && account->told_doubts < wait->origin;
    if (account == NULL || (account->told[wait->how] >= wait->number && !is_doubt) ||
        (TM_BREAKS(LOSE_SILENTLY) && wait->how == LEFT_DROPPED)) {
        return;
    }
    account->told[wait->how] = wait->number * (TM_BREAKS(LOSE_TWICE) ? 2 : 1);
    account->told_doubts = wait->how == LEFT_DAMAGED ? wait->origin : account->told_doubts;
    for (uint32_t id = keep_at(sw, slot)->members; id != MEMBER_NONE; id = keep_member(sw, id)->next_of_keep) {
        keep_tell_lost(sw, id, (tm_leaving)wait->how);
    }
}

static void release(tm_switch *sw) {
    tm_keeps *keeps = sw->keeps;
    uint32_t confirming = CONNECTION_NONE;
    uint64_t now_us = tm_clock_ns() / 1000;
    tm_wait wait;
    while (tm_waits_take(&keeps->waits, keeps->committed, &wait)) {
        if (wait.kind == WAIT_CONFIRMATION) {
            confirm(sw, &wait, now_us, &confirming);
        } else if (wait.kind == WAIT_ANSWER) {
            keep_end_answer(sw, &wait, true);
        } else {
            tell_loss(sw, &wait);
        }
    }
    if (confirming != CONNECTION_NONE) {
        switch_send_confirmations(sw, confirming);
        switch_drop_confirmations(sw);
    }
}

/* ---- failure of the log ---- */

static void refuse_run(tm_switch *sw, const tm_wait *wait) {
    const tm_connection *connection = switch_at(sw, wait->connection);
    for (uint32_t i = 0;
         i < wait->count && connection->state == CONNECTION_OPEN && connection->admission.number == wait->origin; i++) {
        switch_refuse(sw, wait->connection, wait->number + i, WIRE_REFUSED_LOG_FAILED,
                      "the log of this router cannot be written", 0);
    }
}

static void give_up(tm_switch *sw) {
    tm_keeps *keeps = sw->keeps;
    tm_wait wait;
    keeps->has_failed = true;
    while (tm_waits_take(&keeps->waits, UINT64_MAX, &wait)) {
        if (wait.kind == WAIT_CONFIRMATION) {
            refuse_run(sw, &wait);
        } else if (wait.kind == WAIT_ANSWER) {
            keep_end_answer(sw, &wait, false);
        }
    }
}

static void judge_log(tm_switch *sw) {
    tm_log_state state;
    tm_log_state_of(sw->keeps->log, &state);
    if (state.is_failed && !sw->keeps->has_failed) {
        give_up(sw);
    }
}

static void tell_committed(tm_switch *sw) {
    tm_keeps *keeps = sw->keeps;
    bool is_due = keeps->awaited_least != 0 && (keeps->awaited_least <= keeps->committed || keeps->has_failed);
    tm_event event = {.type = TM_EVENT_COMMITTED, .connection = CONNECTION_NONE, .code = keeps->has_failed};
    uint8_t *at = is_due ? switch_tell_bytes(sw, event, sizeof keeps->committed) : NULL;
    if (at == NULL) {
        return; /* without memory, a later turn reports it */
    }
    wire_store64(at, keeps->committed);
    bool is_all = keeps->has_failed || keeps->awaited_most <= keeps->committed;
    keeps->awaited_least = is_all ? 0 : keeps->committed + 1;
    keeps->awaited_most = is_all ? 0 : keeps->awaited_most;
}

/* ---- a turn ---- */

void keep_begin_call(tm_switch *sw, uint64_t now_us) {
    sw->keeps->turn_us = now_us;
    sw->keeps->turn_ms = keep_wall_ms(sw);
    if (sw->keeps->log != NULL) {
        keep_note_load(sw); /* room in the log changes between calls, too */
    }
}

void keep_note_log(tm_switch *sw) {
    tm_keeps *keeps = sw->keeps;
    eventfd_t raised;
    keeps->is_woken = false;
    eventfd_read(keeps->wakes, &raised);
    bool is_raised = eventfd_read(tm_log_descriptor(keeps->log), &raised) == 0;
    if (is_raised && tm_log_committed(keeps->log) == keeps->committed) {
        judge_log(sw);
    }
}

/* Take back deliveries whose ack_wait is over, and make attempts whose pause is over ready. */
static void let_time_act(tm_switch *sw) {
    tm_attempts *attempts = &sw->keeps->attempts;
    for (uint32_t id = tm_heap_least(&attempts->due);
         id != ATTEMPT_NONE && attempts->rows[id].key <= keep_now_ms(sw) + (TM_BREAKS(TAKE_BACK_EARLY) ? 1 : 0);
         id = tm_heap_least(&attempts->due)) {
        const tm_attempt *attempt = &attempts->rows[id];
        if (attempt->state == ATTEMPT_PAUSED) {
            keep_make_ready(sw, attempt->keep, id);
        } else {
            tm_kept *row = tm_index_find(&keep_at(sw, attempt->keep)->index, attempt->n);
            keep_take_back(sw, attempt->keep, row, 0, NULL, 0);
        }
    }
}

static void serve_due(tm_switch *sw) {
    tm_keeps *keeps = sw->keeps;
    uint32_t count = keeps->due_count; /* those that become due meanwhile are served in the next turn */
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = keeps->due[i];
        tm_keep *keep = keep_at(sw, slot);
        keep->is_due = false;
        if (keep->is_live && slot != KEEP_BOOK && !keep->is_closing) {
            keep_hold_to_terms(sw, slot);
            keep_flush_losses(sw, slot);
            keep_hand_out(sw, slot);
            keep_flush_losses(sw, slot);
        }
    }
    keeps->due_count -= count;
    memmove(keeps->due, keeps->due + count, keeps->due_count * sizeof *keeps->due);
    if (keeps->due_count > 0) {
        keep_wake(sw);
    }
}

void keep_turn(tm_switch *sw) {
    tm_keeps *keeps = sw->keeps;
    uint64_t committed = tm_log_committed(keeps->log);
    if (committed != keeps->committed) {
        keeps->committed = committed;
        note_written(sw);
        release(sw);
    }
    keep_collect_cold(sw);
    let_time_act(sw);
    serve_due(sw);
    keep_flush_done(sw);
    if (keeps->is_unflushed) {
        keeps->is_unflushed = false;
        tm_log_flush(keeps->log);
    }
    if (keeps->awaited_least != 0) {
        tell_committed(sw);
    }
}

void keep_tick(tm_switch *sw) {
    uint64_t now_ms = keep_wall_ms(sw);
    tm_times_note(&sw->keeps->times, now_ms, sw->keeps->last_n);
    for (uint32_t slot = KEEP_BOOK + 1; slot < sw->keeps->count; slot++) {
        tm_keep *keep = keep_at(sw, slot);
        bool waits = keep->loss_count > 0 || keep->unstored > 0 || keep->dying > 0 || keep->cold_again_ms > 0;
        if (keep->is_live && (keep->look_ms <= now_ms || waits || keep_is_past_share(sw, keep))) {
            keep_make_due(sw, slot);
        }
    }
    judge_log(sw);
}
