/* lifecycle.c - see lifecycle.h. */
#define _GNU_SOURCE
#include "durable/lifecycle.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/grow.h"
#include "durable/hold.h"
#include "durable/keep/bodies.h"
#include "durable/keep/book.h"
#include "durable/keep/done.h"
#include "durable/keep/owners.h"
#include "durable/keep/table.h"
#include "durable/life.h"
#include "durable/members/frames.h"
#include "durable/members/members.h"
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
#include "switch/subscribers/subscriber.h"

#define WAITS_MAX 1048576U

/* ---- start and end ---- */

void keep_free_all(tm_switch *sw) {
    tm_keeps *keeps = sw->keeps;
    if (keeps == NULL) {
        return;
    }
    if (keeps->log != NULL) {
        epoll_ctl(sw->epoll, EPOLL_CTL_DEL, tm_log_descriptor(keeps->log), NULL);
        tm_cold_end(&keeps->cold);
        keep_collect_cold(sw);
    }
    for (uint32_t slot = 0; slot < keeps->count; slot++) {
        keep_clear(sw, keeps->rows[slot]);
        TM_DELETE(&keeps->memory, TM_COLD, keeps->rows[slot], tm_keep, 1);
    }
    tm_memory *memory = &keeps->memory;
    tm_attempts_clear(&keeps->attempts);
    tm_waits_clear(&keeps->waits);
    TM_DELETE(memory, TM_COLD, keeps->rows, tm_keep *, keeps->capacity);
    TM_DELETE(memory, TM_COLD, keeps->wanted, uint32_t, 2 * keeps->capacity);
    TM_DELETE(memory, TM_COLD, keeps->wanted_slots, uint32_t, keeps->capacity);
    TM_DELETE(memory, TM_COLD, keeps->due, uint32_t, 2 * keeps->capacity);
    TM_DELETE(memory, TM_COLD, keeps->unwritten, uint32_t, keeps->capacity);
    TM_DELETE(memory, TM_COLD, keeps->members, tm_member, keeps->member_capacity);
    TM_DELETE(memory, TM_COLD, keeps->owners, tm_keep_owner, keeps->owner_capacity);
    TM_DELETE(memory, TM_COLD, keeps->lanes, tm_keep_lane, KEEP_LANES);
    TM_DELETE(memory, TM_COLD, keeps->frame, uint8_t, keeps->frame_capacity);
    TM_DELETE(memory, TM_COLD, keeps->done, tm_log_done, keeps->done_capacity);
    TM_DELETE(memory, TM_COLD, keeps->tallies, tm_book_tally, keeps->tally_capacity);
    tm_incompletes_clear(&keeps->incomplete);
    TM_DELETE(memory, TM_COLD, keeps->letters, tm_book_letters, keeps->letter_capacity);
    tm_idset_free(&keeps->numbers, memory, TM_COLD);
    if (keeps->wakes >= 0) {
        close(keeps->wakes);
    }
    sw->keeps = NULL;
    sw->durable = NULL;
    TM_DELETE(&sw->memory, TM_COLD, keeps, tm_keeps, 1);
}

static bool watch(const tm_switch *sw, int fd) {
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = KEEPS_EPOLL_ID};
    return fd >= 0 && epoll_ctl(sw->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static int begin(tm_switch *sw, tm_log *log) {
    tm_keeps *keeps = sw->keeps;
    keeps->wakes = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (!watch(sw, keeps->wakes) || !keep_make_owners(sw) || keep_new_slot(sw, TM_KEEPS_BOOK) != KEEP_BOOK ||
        !watch(sw, tm_log_descriptor(log))) {
        return TM_NO_MEMORY;
    }
    keeps->log = log;
    if (!tm_cold_start(&keeps->cold, log, keeps->wakes, !keeps->options.has_no_thread)) {
        return TM_NO_MEMORY;
    }
    tm_log_state state;
    tm_log_state_of(log, &state);
    keeps->recovered_to = state.committed;
    keeps->last_n = state.committed;
    keeps->committed = tm_log_committed(log);
    keep_begin_call(sw, tm_clock_ns() / 1000);
    int result = keep_read_tail(sw);
    return result == TM_OK ? keep_fill(sw, KEEP_BOOK) : result;
}

static int end_keeps(tm_switch *sw) {
    for (uint32_t slot = KEEP_BOOK + 1; sw->keeps != NULL && slot < sw->keeps->count; slot++) {
        tm_keep *keep = keep_at(sw, slot);
        while (keep->is_live && keep->members != MEMBER_NONE) {
            keep_detach(sw, keep->members);
        }
        if (keep->is_live && keep->subscriber != SUBSCRIBER_NONE) {
            switch_subscriber(sw, keep->subscriber)->state = SUBSCRIBER_ENDED;
            while (switch_forget_subscriber(sw, keep->subscriber, UINT32_MAX) > 0) {
            }
        }
    }
    sw->holds &= (uint8_t)~SWITCH_HOLD_LOG;
    for (uint32_t id = 0; sw->keeps != NULL && id < sw->connection_count; id++) {
        if (switch_at(sw, id)->waits_for_log) {
            keep_hold_no_more(sw, id);
        }
        switch_at(sw, id)->answers = switch_at(sw, id)->answer_bytes = 0;
    }
    if (sw->keeps != NULL) {
        keep_flush_done(sw);
        tm_log_flush(sw->keeps->log);
    }
    keep_free_all(sw);
    return TM_OK;
}

static const tm_durable durable = {
    .begin = keep_begin_call,
    .note_log = keep_note_log,
    .tick = keep_tick,
    .let_go = keep_let_go,
    .turn = keep_turn,
    .keep = keep_store,
    .is_incomplete = keep_is_incomplete,
    .refuse_lacking = keep_refuse_lacking,
    .confirm = keep_confirm,
    .take_ack = keep_take_ack,
    .take_credit = keep_take_credit,
    .hold = keep_hold_for_log,
    .hold_no_more = keep_hold_no_more,
    .go_on = keep_go_on,
    .blame = keep_blame,
    .leave = keep_leave_all,
    .free = keep_free_all,
};

int tm_switch_keeps(tm_switch *sw, tm_log *log, const tm_keeps_options *options) {
    if (sw == NULL || (log != NULL && (options == NULL || sw->keeps != NULL))) {
        return TM_MISUSED;
    }
    if (log == NULL) {
        return end_keeps(sw);
    }
    sw->keeps = TM_NEW(&sw->memory, TM_COLD, tm_keeps, 1);
    if (sw->keeps == NULL) {
        return TM_NO_MEMORY;
    }
    sw->durable = &durable;
    tm_keeps *keeps = sw->keeps;
    keeps->memory = (tm_memory){.bytes_max = options->memory_bytes_max, .key = sw->memory.key};
    keeps->options = *options;
    keeps->wakes = -1;
    keeps->free = KEEP_NONE;
    keeps->member_free = MEMBER_NONE;
    tm_attempts_init(&keeps->attempts, &keeps->memory);
    tm_incompletes_init(&keeps->incomplete, &keeps->memory);
    keeps->terms.memory = &keeps->memory;
    keeps->waits =
        (tm_waits){.memory = &keeps->memory, .rows_max = options->waits_max > 0 ? options->waits_max : WAITS_MAX};
    int result = begin(sw, log);
    if (result != TM_OK) {
        keep_free_all(sw);
    }
    return result;
}

int tm_switch_keeps_nothing(tm_switch *sw, int how) {
    if (sw == NULL || how < TM_KEEPS_NO_FOLDER || how > TM_KEEPS_NONE_YET) {
        return TM_MISUSED;
    }
    sw->keeps_nothing = (uint8_t)how;
    return TM_OK;
}

/* ---- the catalog ---- */

int tm_keeps_append(tm_switch *sw, uint32_t kind, const uint8_t *body, uint32_t size, uint64_t *n) {
    if (sw == NULL || sw->keeps == NULL || kind < TM_LOG_OTHER || kind > UINT16_MAX || n == NULL) {
        return TM_MISUSED;
    }
    int result = keep_append_book(sw, kind, body, size, n);
    tm_log_flush(sw->keeps->log);
    return result;
}

int tm_keeps_retire(tm_switch *sw, uint64_t n) {
    if (sw == NULL || sw->keeps == NULL) {
        return TM_MISUSED;
    }
    if (tm_index_find(&keep_at(sw, KEEP_BOOK)->index, n) == NULL) {
        return TM_ABSENT;
    }
    keep_retire_book(sw, n);
    keep_flush_done(sw);
    tm_log_flush(sw->keeps->log);
    return TM_OK;
}

int tm_keeps_await(tm_switch *sw, uint64_t n) {
    if (sw == NULL || sw->keeps == NULL) {
        return TM_MISUSED;
    }
    n = n == 0 ? sw->keeps->last_n : n;
    tm_keeps *keeps = sw->keeps;
    keeps->awaited_least = keeps->awaited_least == 0 || n < keeps->awaited_least ? n : keeps->awaited_least;
    keeps->awaited_most = n > keeps->awaited_most ? n : keeps->awaited_most;
    keep_wake(sw);
    return TM_OK;
}
