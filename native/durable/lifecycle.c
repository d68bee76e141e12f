/* lifecycle.c - see lifecycle.h. */
#define _GNU_SOURCE
#include "durable/lifecycle.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/grow.h"
#include "durable/backpressure.h"
#include "durable/consumers/consumers.h"
#include "durable/consumers/frames.h"
#include "durable/core/bodies.h"
#include "durable/core/catalog.h"
#include "durable/core/done.h"
#include "durable/core/owners.h"
#include "durable/core/table.h"
#include "durable/custody/chains.h"
#include "durable/custody/held.h"
#include "durable/life.h"
#include "durable/messages/arrive.h"
#include "durable/messages/lack.h"
#include "durable/messages/leave.h"
#include "durable/messages/store.h"
#include "durable/start/fill.h"
#include "durable/start/tail.h"
#include "durable/tables/attempts.h"
#include "durable/tables/cold.h"
#include "durable/tables/incomplete.h"
#include "durable/tables/index.h"
#include "durable/tables/waits.h"
#include "durable/turn.h"
#include "durable/waiting.h"
#include "switch/subscribers/subscriber.h"

#define WAITS_MAX 1048576U

/* ---- start and end ---- */

void durable_free_all(tm_switch *sw) {
    tm_durables *durables = sw->durables;
    if (durables == NULL) {
        return;
    }
    if (durables->log != NULL) {
        epoll_ctl(sw->epoll, EPOLL_CTL_DEL, tm_log_descriptor(durables->log), NULL);
        tm_cold_end(&durables->cold);
        durable_collect_cold(sw);
    }
    for (uint32_t slot = 0; slot < durables->count; slot++) {
        durable_clear(sw, durables->rows[slot]);
        TM_DELETE(&durables->memory, TM_COLD, durables->rows[slot], tm_durable, 1);
    }
    tm_memory *memory = &durables->memory;
    tm_attempts_clear(&durables->attempts);
    tm_waits_clear(&durables->waits);
    tm_held_free_queue(&durables->held, &durables->written);
    TM_DELETE(memory, TM_COLD, durables->rows, tm_durable *, durables->capacity);
    TM_DELETE(memory, TM_COLD, durables->wanted, uint32_t, 2 * durables->capacity);
    TM_DELETE(memory, TM_COLD, durables->wanted_slots, uint32_t, durables->capacity);
    TM_DELETE(memory, TM_COLD, durables->due, uint32_t, 2 * durables->capacity);
    TM_DELETE(memory, TM_COLD, durables->unwritten, uint32_t, durables->capacity);
    TM_DELETE(memory, TM_COLD, durables->consumers, tm_consumer, durables->consumer_capacity);
    TM_DELETE(memory, TM_COLD, durables->owners, tm_durable_owner, durables->owner_capacity);
    TM_DELETE(memory, TM_COLD, durables->pools, tm_durable_owner, durables->pool_capacity);
    TM_DELETE(memory, TM_COLD, durables->lanes, tm_durable_lane, DURABLE_LANES);
    TM_DELETE(memory, TM_COLD, durables->frame, uint8_t, durables->frame_capacity);
    TM_DELETE(memory, TM_COLD, durables->done, tm_log_done, durables->done_capacity);
    TM_DELETE(memory, TM_COLD, durables->counts, tm_catalog_counts, durables->counts_capacity);
    tm_incompletes_clear(&durables->incomplete);
    durable_free_chains(&durables->arrivals);
    tm_custody_ids_free(&durables->copied_early);
    durable_free_homes(sw);
    tm_held_clear(&durables->held);
    TM_DELETE(memory, TM_COLD, durables->dead_letters, tm_catalog_dead_letters, durables->dead_letter_capacity);
    tm_idset_free(&durables->numbers, memory, TM_COLD);
    if (durables->wakes >= 0) {
        close(durables->wakes);
    }
    sw->durables = NULL;
    sw->durable = NULL;
    TM_DELETE(&sw->memory, TM_COLD, durables, tm_durables, 1);
}

static bool watch(const tm_switch *sw, int fd) {
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = DURABLES_EPOLL_ID};
    return fd >= 0 && epoll_ctl(sw->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static int begin(tm_switch *sw, tm_log *log) {
    tm_durables *durables = sw->durables;
    durables->wakes = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (!watch(sw, durables->wakes) || !durable_make_owners(sw) ||
        durable_new_slot(sw, TM_DURABLES_CATALOG) != DURABLE_CATALOG || !watch(sw, tm_log_descriptor(log))) {
        return TM_NO_MEMORY;
    }
    durables->log = log;
    if (!tm_cold_start(&durables->cold, log, durables->wakes, !durables->options.has_no_thread)) {
        return TM_NO_MEMORY;
    }
    tm_log_state state;
    tm_log_state_of(log, &state);
    durables->arrivals.log = durables->homes.log = state.log_id;
    durables->recovered_to = state.committed;
    durables->last_n = state.committed;
    durables->committed = tm_log_committed(log);
    durable_begin_call(sw, tm_clock_ns() / 1000);
    int result = durable_recall_chains(sw);
    result = result == TM_OK ? durable_read_tail(sw) : result;
    return result == TM_OK ? durable_fill(sw, DURABLE_CATALOG) : result;
}

/* Remove the filters of homes from the local table; who waits for a home gets no answer. */
static void end_homes(tm_switch *sw) {
    for (uint32_t i = 0; sw->durables != NULL && i < sw->durables->homes.count; i++) {
        tm_home *home = sw->durables->homes.rows[i];
        tm_held_free_queue(&sw->durables->held, &home->held);
        uint32_t left = home->subscriber != SUBSCRIBER_NONE;
        while (left > 0) {
            tm_custody_close_home(sw, home->chain.router, UINT32_MAX, &left);
        }
    }
}

static int end_durables(tm_switch *sw) {
    for (uint32_t slot = DURABLE_CATALOG + 1; sw->durables != NULL && slot < sw->durables->count; slot++) {
        tm_durable *durable = durable_at(sw, slot);
        while (durable->is_live && durable->consumers != CONSUMER_NONE) {
            durable_cancel(sw, durable->consumers);
        }
        if (durable->is_live && durable->subscriber != SUBSCRIBER_NONE) {
            switch_subscriber(sw, durable->subscriber)->state = SUBSCRIBER_ENDED;
            while (switch_forget_subscriber(sw, durable->subscriber, UINT32_MAX) > 0) {
            }
        }
    }
    end_homes(sw);
    sw->holds &= (uint8_t)~SWITCH_WAITS_FOR_LOG;
    for (uint32_t id = 0; sw->durables != NULL && id < sw->connection_count; id++) {
        if (switch_at(sw, id)->waits_for_log) {
            durable_resume_all(sw, id);
        }
        switch_at(sw, id)->answers = switch_at(sw, id)->answer_bytes = 0;
    }
    if (sw->durables != NULL) {
        durable_flush_done(sw);
        tm_log_flush(sw->durables->log);
    }
    durable_free_all(sw);
    return TM_OK;
}

static const tm_durable_ops durable = {
    .begin = durable_begin_call,
    .note_log = durable_note_log,
    .tick = durable_tick,
    .let_go = durable_let_go,
    .turn = durable_turn,
    .durable = durable_store,
    .arrive = durable_arrive,
    .is_incomplete = durable_is_incomplete,
    .refuse_lacking = durable_refuse_lacking,
    .has_stored = durable_has_stored,
    .confirm = durable_confirm,
    .confirm_held = durable_confirm_held,
    .is_awaited = durable_is_awaited,
    .take_ack = durable_take_ack,
    .take_credit = durable_take_credit,
    .hold = durable_wait_for_log,
    .hold_no_more = durable_resume_all,
    .go_on = durable_go_on,
    .blame = durable_blame,
    .leave = durable_leave_all,
    .free = durable_free_all,
};

int tm_switch_durables(tm_switch *sw, tm_log *log, const tm_durables_options *options) {
    if (sw == NULL || (log != NULL && (options == NULL || sw->durables != NULL))) {
        return TM_MISUSED;
    }
    if (log == NULL) {
        return end_durables(sw);
    }
    sw->durables = TM_NEW(&sw->memory, TM_COLD, tm_durables, 1);
    if (sw->durables == NULL) {
        return TM_NO_MEMORY;
    }
    sw->durable = &durable;
    tm_durables *durables = sw->durables;
    durables->memory = (tm_memory){.bytes_max = options->memory_bytes_max, .key = sw->memory.key};
    durables->options = *options;
    durables->wakes = -1;
    durables->free = DURABLE_NONE;
    durables->consumer_free = CONSUMER_NONE;
    tm_attempts_init(&durables->attempts, &durables->memory);
    tm_incompletes_init(&durables->incomplete, &durables->memory);
    durables->arrivals.memory = durables->arrivals.ids.memory = durables->homes.memory = &durables->memory;
    durables->copied_early.memory = durables->homes.copies.memory = &durables->memory;
    durables->policy.memory = &durables->memory;
    durables->waits =
        (tm_waits){.memory = &durables->memory, .rows_max = options->waits_max > 0 ? options->waits_max : WAITS_MAX};
    durables->held = (tm_held_all){.memory = &durables->memory, .marks_max = durables->waits.rows_max};
    int result = begin(sw, log);
    if (result != TM_OK) {
        durable_free_all(sw);
    }
    return result;
}

int tm_switch_not_storing(tm_switch *sw, int how) {
    if (sw == NULL || how < TM_DURABLES_NO_FOLDER || how > TM_DURABLES_NONE_YET) {
        return TM_MISUSED;
    }
    sw->not_storing = (uint8_t)how;
    return TM_OK;
}

/* ---- the catalog ---- */

int tm_durables_append(tm_switch *sw, uint32_t kind, const uint8_t *body, uint32_t size, uint64_t *n) {
    if (sw == NULL || sw->durables == NULL || kind < TM_LOG_OTHER || kind > UINT16_MAX || n == NULL) {
        return TM_MISUSED;
    }
    int result = durable_append_catalog(sw, kind, body, size, n);
    tm_log_flush(sw->durables->log);
    return result;
}

int tm_durables_retire(tm_switch *sw, uint64_t n) {
    if (sw == NULL || sw->durables == NULL) {
        return TM_MISUSED;
    }
    if (tm_index_find(&durable_at(sw, DURABLE_CATALOG)->index, n) == NULL) {
        return TM_ABSENT;
    }
    durable_retire_catalog(sw, n);
    durable_flush_done(sw);
    tm_log_flush(sw->durables->log);
    return TM_OK;
}

int tm_durables_await(tm_switch *sw, uint64_t n) {
    if (sw == NULL || sw->durables == NULL) {
        return TM_MISUSED;
    }
    n = n == 0 ? sw->durables->last_n : n;
    tm_durables *durables = sw->durables;
    durables->awaited_least = durables->awaited_least == 0 || n < durables->awaited_least ? n : durables->awaited_least;
    durables->awaited_most = n > durables->awaited_most ? n : durables->awaited_most;
    durable_wake(sw);
    return TM_OK;
}
