/* keeps_disk.c - see keeps_disk.h. */
#include "keeps_disk.h"

#include "durable/keep/append.h"
#include "durable/keep/table.h"
#include "keeps_judge.h"
#include "keeps_lives.h"
#include "log/log.h"
#include "switch/state.h"

static void poll(keeps_world *w) {
    const tm_event *events;
    size_t count;
    CHECK(tm_switch_poll(w->sw, 0, &events, &count) == TM_OK, "poll");
}

void keeps_pass_time(keeps_world *w, uint32_t ms, int64_t wall_ms) {
    const tm_event *events;
    size_t count;
    tm_switch_advance(w->sw, ms);
    CHECK(tm_keeps_advance(w->sw, wall_ms) == TM_OK, "advance");
    CHECK(tm_switch_tick(w->sw, &events, &count) == TM_OK, "tick");
}

/* All is let go that may. */
static void maintain_all(keeps_world *w) {
    uint32_t is_idle = 0;
    for (unsigned i = 0; i < 500 && !is_idle && tm_log_maintain(w->log, &is_idle) == TM_OK; i++) {
    }
}

/* The disk has caught up: publishers go on. */
static void check_let_go(keeps_world *w) {
    do {
        maintain_all(w);
        poll(w);
        keeps_pass_time(w, 0, 0);
    } while (tm_log_commit(w->log) == TM_OK);
    bool waits = atomic_load(&w->log->appended) != atomic_load(&w->log->committed);
    CHECK(waits || w->sw->keeps->stats.held == 0, "publishers wait, and nothing waits for the disk");
}

void keeps_commit(keeps_world *w) {
    uint32_t is_idle;
    if (w->slow_turns > 0) {
        if (--w->slow_turns == 0) {
            check_let_go(w);
        }
        poll(w);
        return;
    }
    if (tm_log_commit(w->log) == TM_LOG_FAILED) {
        keeps_crash(w, keeps_choose(w, CRASH_OF_PROCESS));
    }
    tm_log_maintain(w->log, &is_idle);
    poll(w);
}

void keeps_let_time_pass(keeps_world *w) {
    static const uint32_t steps[] = {0, 500, 9999, 20000, 31000};
    uint32_t ms = steps[keeps_choose(w, 5)];
    uint32_t jump = keeps_choose(w, 8);
    keeps_pass_time(w, ms, jump == 0 ? (int64_t)3600000 : jump == 1 ? -3600000 : (int64_t)ms);
}

void keeps_trouble_disk(keeps_world *w) {
    uint32_t what = keeps_choose(w, w->is_slow ? 7 : 4);
    w->slow_turns = what > 3 ? 1 + keeps_choose(w, 12) : 0;
    w->disk->is_full = what == 0 ? !w->disk->is_full : w->disk->is_full;
    w->disk->fails_in = what == 1 ? 20 : what == 2 ? 0 : w->disk->fails_in;
    w->disk->short_in = what == 3 ? 8 : 0;
}

void keeps_damage(keeps_world *w) {
    uint32_t is_idle = 0;
    uint32_t is_through = 0;
    while (tm_log_commit(w->log) == TM_OK) {
    }
    for (unsigned i = 0; i < 500 && !is_idle; i++) {
        tm_log_maintain(w->log, &is_idle);
    }
    if (w->log->store->checkpoint_seq != w->log->store->seq) { /* a disk that is full or fails has none */
        return;
    }
    for (uint32_t flips = 1 + keeps_choose(w, 30); flips > 0; flips--) {
        w->damages += faulty_flip(w->disk, "segment");
    }
    w->is_damaged = w->may_return = true;
    while (keeps_choose(w, 2) == 0 && !is_through) {
        tm_log_scrub(w->log, SEGMENT_BYTES, &is_through);
    }
    if (keeps_choose(w, 2) == 0) {
        keeps_crash(w, CRASH_ALL_LOST);
    }
}

void keeps_miss(keeps_world *w) {
    uint32_t numbers[KEEPS_KINDS];
    uint32_t count = 0;
    for (uint32_t kind = 0; kind < KEEPS_KINDS; kind++) {
        numbers[count] = w->keeps[kind].number;
        count += w->keeps[kind].number != 0 && keeps_choose(w, 4) != 0;
    }
    uint64_t before = w->sw->keeps->last_n;
    int result = tm_keeps_doubt(w->sw, numbers, count, keep_wall_ms(w->sw) - keeps_choose(w, 9) * UINT64_C(700));
    CHECK(result == TM_OK || result == TM_LOG_FULL || result == TM_LOG_BUSY || result == TM_LOG_FAILED ||
              (result == TM_NO_MEMORY && w->starved != STARVED_NOBODY),
          "doubt: %d", result);
    for (uint32_t kind = 0; kind < KEEPS_KINDS && w->sw->keeps->last_n > before; kind++) {
        uint32_t slot = keep_slot(w->sw, w->keeps[kind].number);
        if (slot != KEEP_NONE && slot != KEEP_BOOK && keep_at(w->sw, slot)->doubt_n == w->sw->keeps->last_n) {
            judge_missed(w, kind, w->sw->keeps->last_n);
        }
    }
}
