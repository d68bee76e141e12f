/* keeps.c - a switch gets its log; the book; keeps by their numbers. See keeps.h. */
#define _GNU_SOURCE
#include "switch/keeps.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/grow.h"

#define WAITS_MAX 1048576U

/* ---- keeps by number ---- */

static uint64_t hash_of(const void *owner, uint64_t id) {
    const tm_keeps *keeps = owner;
    return tm_hash_u64(keeps->rows[id - 1]->number, &keeps->memory.key);
}

uint32_t keep_slot(const tm_switch *sw, uint32_t number) {
    const tm_keeps *keeps = sw->keeps;
    tm_idset_search search = tm_idset_start(&keeps->numbers, tm_hash_u64(number, &keeps->memory.key));
    for (uint32_t id = tm_idset_next(&search); id != 0; id = tm_idset_next(&search)) {
        if (keeps->rows[id - 1]->number == number) {
            return id - 1;
        }
    }
    return KEEP_NONE;
}

static bool reserve_keep(tm_keeps *keeps) {
    if (tm_idset_reserve(&keeps->numbers, &keeps->memory, TM_COLD, hash_of, keeps) != TM_OK) {
        return false;
    }
    if (keeps->free != KEEP_NONE || keeps->count < keeps->capacity) {
        return true;
    }
    uint32_t old = keeps->capacity;
    uint32_t capacity = tm_next_capacity(old, sizeof *keeps->rows);
    uint32_t **lists[4] = {&keeps->wanted, &keeps->wanted_slots, &keeps->due, &keeps->unwritten};
    /* It may be two claimants, and become due while it is served. */
    static const uint32_t times[4] = {2, 1, 2, 1};
    for (unsigned i = 0; i < 4; i++) { /* one that grew stays longer than is known, which it may */
        uint32_t *grown = TM_RESIZE(&keeps->memory, TM_COLD, *lists[i], uint32_t, times[i] * old, times[i] * capacity);
        if (grown == NULL) {
            while (i-- > 0) {
                *lists[i] =
                    TM_RESIZE(&keeps->memory, TM_COLD, *lists[i], uint32_t, times[i] * capacity, times[i] * old);
            }
            return false;
        }
        *lists[i] = grown;
    }
    tm_keep **rows = TM_RESIZE(&keeps->memory, TM_COLD, keeps->rows, tm_keep *, old, capacity);
    if (rows == NULL) {
        for (unsigned i = 0; i < 4; i++) {
            *lists[i] = TM_RESIZE(&keeps->memory, TM_COLD, *lists[i], uint32_t, times[i] * capacity, times[i] * old);
        }
        return false;
    }
    keeps->rows = rows;
    keeps->capacity = capacity;
    return true;
}

uint32_t keep_new_slot(tm_switch *sw, uint32_t number) {
    tm_keeps *keeps = sw->keeps;
    if (!reserve_keep(keeps)) {
        return KEEP_NONE;
    }
    uint32_t slot = keeps->free;
    bool is_due = false; /* as the one before it may be, in this slot */
    bool is_unwritten = false;
    if (slot != KEEP_NONE) {
        keeps->free = keeps->rows[slot]->next_free;
        is_due = keeps->rows[slot]->is_due;
        is_unwritten = keeps->rows[slot]->is_unwritten;
    } else {
        tm_keep *row = TM_NEW(&keeps->memory, TM_COLD, tm_keep, 1);
        if (row == NULL) {
            return KEEP_NONE;
        }
        slot = keeps->count++;
        keeps->rows[slot] = row;
    }
    *keeps->rows[slot] = (tm_keep){.number = number,
                                   .is_due = is_due,
                                   .is_unwritten = is_unwritten,
                                   .subscriber = SUBSCRIBER_NONE,
                                   .is_live = true,
                                   .members = MEMBER_NONE,
                                   .look_ms = UINT64_MAX};
    tm_idset_insert(&keeps->numbers, tm_hash_u64(number, &keeps->memory.key), slot + 1);
    return slot;
}

void keep_free_slot(tm_switch *sw, uint32_t slot) {
    tm_keeps *keeps = sw->keeps;
    uint32_t number = keeps->rows[slot]->number;
    tm_idset_remove(&keeps->numbers, tm_hash_u64(number, &keeps->memory.key), slot + 1, hash_of, keeps);
    tm_keep *keep = keeps->rows[slot];
    keep_clear(sw, keep);
    *keep = (tm_keep){.subscriber = SUBSCRIBER_NONE,
                      .is_due = keep->is_due,
                      .is_unwritten = keep->is_unwritten,
                      .next_free = keeps->free};
    keeps->free = slot;
}

/* ---- accounts ---- */

const tm_keep_account *keep_account(const tm_keep *keep) {
    static const tm_keep_account nothing;
    return keep->account != NULL ? keep->account : &nothing;
}

bool keep_open_account(tm_switch *sw, tm_keep *keep) {
    if (keep->account == NULL) {
        keep->account = TM_NEW(&sw->keeps->memory, TM_COLD, tm_keep_account, 1);
        if (keep->account == NULL) {
            return false;
        }
        keep->account->tally.keep = keep->number;
        keep->account->latest.has_words = true;
    }
    return true;
}

bool keep_numbers_are_sound(const tm_switch *sw) {
    return tm_idset_is_sound(&sw->keeps->numbers, hash_of, sw->keeps);
}

/* ---- records ---- */

uint64_t keep_wall_ms(const tm_switch *sw) {
    return (uint64_t)((int64_t)(tm_clock_unix_ns() / 1000000) + sw->keeps->wall_ahead_ms);
}

int keep_append(tm_switch *sw, const tm_log_entry *entry, uint64_t *n) {
    tm_keeps *keeps = sw->keeps;
    uint64_t place = tm_log_end(keeps->log);
    int result = tm_log_append(keeps->log, entry, n);
    if (result == TM_OK) {
        keeps->last_n = *n;
        keeps->last_place = place;
        keeps->is_unflushed = true;
        keep_note_load(sw);
    }
    return result;
}

int keep_append_book(tm_switch *sw, uint32_t kind, const void *body, uint32_t size, uint64_t *n) {
    tm_keeps *keeps = sw->keeps;
    static const uint32_t book = TM_KEEPS_BOOK;
    uint64_t now_ms = keep_wall_ms(sw);
    if (!keep_reserve(sw, keep_at(sw, KEEP_BOOK), NULL)) {
        return TM_LOG_FULL;
    }
    tm_log_entry entry = {.keeps = &book,
                          .keep_count = 1,
                          .body = body,
                          .body_size = size,
                          .kind = (uint16_t)kind,
                          .t_us = now_ms * 1000};
    int result = keep_append(sw, &entry, n);
    if (result == TM_OK) {
        tm_kept row = {.n = *n, .place = KEPT_NO_PLACE, .at_ms = now_ms, .size = size, .tried = KEPT_NO_TRY};
        tm_index_append(&keeps->rows[KEEP_BOOK]->index, &row, NULL);
    }
    return result;
}

void keep_retire_book(tm_switch *sw, uint64_t n) {
    tm_index *index = &keep_at(sw, KEEP_BOOK)->index;
    uint32_t at = tm_index_from(index, n);
    if (at < index->end && index->rows[at].n == n && index->rows[at].state != KEPT_LEFT) {
        keep_leave(sw, KEEP_BOOK, at, LEFT_ACKED);
    }
}

void keep_make_due(tm_switch *sw, uint32_t slot) {
    tm_keep *keep = keep_at(sw, slot);
    if (!keep->is_due) {
        keep->is_due = true;
        sw->keeps->due[sw->keeps->due_count++] = slot;
    }
}

void keep_make_unwritten(tm_switch *sw, uint32_t slot) {
    tm_keep *keep = keep_at(sw, slot);
    if (!keep->is_unwritten) {
        keep->is_unwritten = true;
        sw->keeps->unwritten[sw->keeps->unwritten_count++] = slot;
    }
}

void keep_wake(tm_switch *sw) {
    if (!sw->keeps->is_woken) {
        sw->keeps->is_woken = true;
        eventfd_write(sw->keeps->wakes, 1);
    }
}

/* ---- life ---- */

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
    tm_tries_clear(&keeps->tries);
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
    .keep_again = keep_store_again,
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
    tm_tries_init(&keeps->tries, &keeps->memory);
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

/* ---- the book ---- */

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
