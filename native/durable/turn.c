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
#include "durable/consumers/consumers.h"
#include "durable/consumers/give.h"
#include "durable/core/append.h"
#include "durable/core/attempts.h"
#include "durable/core/bodies.h"
#include "durable/core/done.h"
#include "durable/core/owners.h"
#include "durable/core/table.h"
#include "durable/custody/chains.h"
#include "durable/messages/expiry.h"
#include "durable/messages/losses.h"
#include "durable/tables/attempts.h"
#include "durable/tables/index.h"
#include "durable/tables/times.h"
#include "durable/waiting.h"
#include "switch/connections/events.h"

/* ---- commits ---- */

/* Make subscriptions whose messages are on disk now due, so that they deliver. */
static void note_written(tm_switch *sw) {
    tm_durables *durables = sw->durables;
    uint32_t left = 0;
    for (uint32_t i = 0; i < durables->unwritten_count; i++) {
        uint32_t slot = durables->unwritten[i];
        tm_durable *durable = durable_at(sw, slot);
        const tm_index *index = &durable->index;
        durable->is_unwritten =
            durable->is_live && index->end > index->first && index->rows[index->end - 1].n > durables->committed;
        if (durable->is_unwritten) {
            durables->unwritten[left++] = slot;
        }
        if (durable->is_live && durable->consumers != CONSUMER_NONE) {
            durable_make_due(sw, slot);
        }
    }
    durables->unwritten_count = left;
}

/* ---- failure of the log ---- */

static void judge_log(tm_switch *sw) {
    tm_log_state state;
    tm_log_state_of(sw->durables->log, &state);
    if (state.is_failed && !sw->durables->has_failed) {
        durable_refuse_waiting(sw);
    }
}

static void tell_committed(tm_switch *sw) {
    tm_durables *durables = sw->durables;
    bool is_due =
        durables->awaited_least != 0 && (durables->awaited_least <= durables->committed || durables->has_failed);
    tm_event event = {.type = TM_EVENT_COMMITTED, .connection = CONNECTION_NONE, .code = durables->has_failed};
    uint8_t *at = is_due ? switch_tell_bytes(sw, event, sizeof durables->committed) : NULL;
    if (at == NULL) {
        return; /* without memory, a later turn reports it */
    }
    wire_store64(at, durables->committed);
    bool is_all = durables->has_failed || durables->awaited_most <= durables->committed;
    durables->awaited_least = is_all ? 0 : durables->committed + 1;
    durables->awaited_most = is_all ? 0 : durables->awaited_most;
}

/* ---- a turn ---- */

void durable_begin_call(tm_switch *sw, uint64_t now_us) {
    sw->durables->turn_us = now_us;
    sw->durables->turn_ms = durable_wall_ms(sw);
    if (sw->durables->log != NULL) {
        durable_note_load(sw); /* room in the log changes between calls, too */
    }
}

void durable_note_log(tm_switch *sw) {
    tm_durables *durables = sw->durables;
    eventfd_t raised;
    durables->is_woken = false;
    eventfd_read(durables->wakes, &raised);
    bool is_raised = eventfd_read(tm_log_descriptor(durables->log), &raised) == 0;
    if (is_raised && tm_log_committed(durables->log) == durables->committed) {
        judge_log(sw);
    }
}

/* Take back deliveries whose ack_wait is over, and make attempts whose pause is over ready. */
static void let_time_act(tm_switch *sw) {
    tm_attempts *attempts = &sw->durables->attempts;
    for (uint32_t id = tm_heap_least(&attempts->due);
         id != ATTEMPT_NONE && attempts->rows[id].key <= durable_now_ms(sw) + (TM_BREAKS(TAKE_BACK_EARLY) ? 1 : 0);
         id = tm_heap_least(&attempts->due)) {
        const tm_attempt *attempt = &attempts->rows[id];
        if (attempt->state == ATTEMPT_PAUSED) {
            durable_make_ready(sw, attempt->durable, id);
        } else {
            tm_stored_row *row = tm_index_find(&durable_at(sw, attempt->durable)->index, attempt->n);
            durable_take_back(sw, attempt->durable, row, 0, NULL, 0);
        }
    }
}

static void serve_due(tm_switch *sw) {
    tm_durables *durables = sw->durables;
    uint32_t count = durables->due_count; /* those that become due meanwhile are served in the next turn */
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = durables->due[i];
        tm_durable *durable = durable_at(sw, slot);
        durable->is_due = false;
        if (durable->is_live && slot != DURABLE_CATALOG && !durable->is_closing) {
            durable_hold_to_policy(sw, slot);
            durable_flush_losses(sw, slot);
            durable_hand_out(sw, slot);
            durable_flush_losses(sw, slot);
        }
    }
    durables->due_count -= count;
    memmove(durables->due, durables->due + count, durables->due_count * sizeof *durables->due);
    if (durables->due_count > 0) {
        durable_wake(sw);
    }
}

void durable_turn(tm_switch *sw) {
    tm_durables *durables = sw->durables;
    uint64_t committed = tm_log_committed(durables->log);
    if (committed != durables->committed) {
        durables->committed = committed;
        note_written(sw);
        durable_note_chains_on_disk(sw);
        durable_release(sw);
    }
    durable_collect_cold(sw);
    let_time_act(sw);
    serve_due(sw);
    durable_flush_done(sw);
    if (durables->arrivals.is_due) {
        durable_write_chains(sw);
        durable_report_chains(sw);
    }
    if (durables->is_unflushed) {
        durables->is_unflushed = false;
        tm_log_flush(durables->log);
    }
    if (durables->awaited_least != 0) {
        tell_committed(sw);
    }
}

void durable_tick(tm_switch *sw) {
    uint64_t now_ms = durable_wall_ms(sw);
    tm_times_note(&sw->durables->times, now_ms, sw->durables->last_n);
    for (uint32_t slot = DURABLE_CATALOG + 1; slot < sw->durables->count; slot++) {
        tm_durable *durable = durable_at(sw, slot);
        bool waits =
            durable->loss_count > 0 || durable->unstored > 0 || durable->dying > 0 || durable->cold_again_ms > 0;
        if (durable->is_live && (durable->look_ms <= now_ms || waits || durable_is_past_share(sw, durable))) {
            durable_make_due(sw, slot);
        }
    }
    judge_log(sw);
}
