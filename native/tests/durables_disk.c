/* durables_disk.c - see durables_disk.h. */
#include "durables_disk.h"

#include "durable/core/append.h"
#include "durable/core/table.h"
#include "durables_judge.h"
#include "durables_lives.h"
#include "log/log.h"
#include "switch/state.h"

static void poll(durables_world *w) {
    const tm_event *events;
    size_t count;
    CHECK(tm_switch_poll(w->sw, 0, &events, &count) == TM_OK, "poll");
}

void durables_pass_time(durables_world *w, uint32_t ms, int64_t wall_ms) {
    const tm_event *events;
    size_t count;
    tm_switch_advance(w->sw, ms);
    CHECK(tm_durables_advance(w->sw, wall_ms) == TM_OK, "advance");
    CHECK(tm_switch_tick(w->sw, &events, &count) == TM_OK, "tick");
}

/* Run maintenance until nothing is left to free. */
static void maintain_all(durables_world *w) {
    uint32_t is_idle = 0;
    for (unsigned i = 0; i < 500 && !is_idle && tm_log_maintain(w->log, &is_idle) == TM_OK; i++) {
    }
}

/* The disk has caught up: publishers continue. */
static void check_let_go(durables_world *w) {
    do {
        maintain_all(w);
        poll(w);
        durables_pass_time(w, 0, 0);
    } while (tm_log_commit(w->log) == TM_OK);
    bool waits = atomic_load(&w->log->appended) != atomic_load(&w->log->committed);
    CHECK(waits || w->sw->durables->stats.held == 0, "publishers wait, but no record waits for the disk");
}

void durables_commit(durables_world *w) {
    uint32_t is_idle;
    if (w->slow_turns > 0) {
        if (--w->slow_turns == 0) {
            check_let_go(w);
        }
        poll(w);
        return;
    }
    tm_log_commit(w->log);
    if (atomic_load(&w->log->is_failed)) { /* a copy may have failed before, when no record waited */
        durables_crash(w, durables_choose(w, CRASH_OF_PROCESS));
    }
    tm_log_maintain(w->log, &is_idle);
    poll(w);
}

void durables_let_time_pass(durables_world *w) {
    static const uint32_t steps[] = {0, 500, 9999, 20000, 31000};
    uint32_t ms = steps[durables_choose(w, 5)];
    uint32_t jump = durables_choose(w, 8);
    durables_pass_time(w, ms, jump == 0 ? (int64_t)3600000 : jump == 1 ? -3600000 : (int64_t)ms);
}

void durables_trouble_disk(durables_world *w) {
    uint32_t what = durables_choose(w, w->is_slow ? 7 : 4);
    w->slow_turns = what > 3 ? 1 + durables_choose(w, 12) : 0;
    w->disk->is_full = what == 0 ? !w->disk->is_full : w->disk->is_full;
    w->disk->fails_in = what == 1 ? 20 : what == 2 ? 0 : w->disk->fails_in;
    w->disk->short_in = what == 3 ? 8 : 0;
}

void durables_damage(durables_world *w) {
    uint32_t is_idle = 0;
    uint32_t is_through = 0;
    while (tm_log_commit(w->log) == TM_OK) {
    }
    for (unsigned i = 0; i < 500 && !is_idle; i++) {
        tm_log_maintain(w->log, &is_idle);
    }
    if (w->log->store->checkpoint_seq != w->log->store->seq) { /* a full or failing disk has no checkpoint */
        return;
    }
    for (uint32_t flips = 1 + durables_choose(w, 30); flips > 0; flips--) {
        w->damages += faulty_flip(w->disk, "segment");
    }
    w->is_damaged = w->may_return = true;
    while (durables_choose(w, 2) == 0 && !is_through) {
        tm_log_scrub(w->log, SEGMENT_BYTES, &is_through);
    }
    if (durables_choose(w, 2) == 0) {
        durables_crash(w, CRASH_ALL_LOST);
    }
}

void durables_miss(durables_world *w) {
    uint32_t numbers[DURABLES_KINDS];
    uint32_t count = 0;
    for (uint32_t kind = 0; kind < DURABLES_KINDS; kind++) {
        numbers[count] = w->durables[kind].number;
        count += w->durables[kind].number != 0 && durables_choose(w, 4) != 0;
    }
    uint64_t before = w->sw->durables->last_n;
    static const uint32_t losses[] = {WIRE_LOST_ROUTE_CHANGED, WIRE_LOST_CUSTODY_FULL, WIRE_LOST_ENTRY_LOST};
    uint32_t loss = losses[durables_choose(w, 3)];
    uint64_t messages = loss == WIRE_LOST_CUSTODY_FULL ? durables_choose(w, 300) : 0;
    uint64_t since_ms =
        durables_choose(w, 2) == 0 ? TM_DURABLES_HERE : durable_wall_ms(w->sw) - durables_choose(w, 9) * UINT64_C(700);
    int result = tm_durables_unknown(w->sw, numbers, count, since_ms, loss, messages);
    CHECK(result == TM_OK || result == TM_LOG_FULL || result == TM_LOG_BUSY || result == TM_LOG_FAILED ||
              (result == TM_NO_MEMORY && w->starved != STARVED_NOBODY),
          "doubt: %d", result);
    for (uint32_t kind = 0; kind < DURABLES_KINDS; kind++) {
        uint32_t slot = durable_slot(w->sw, w->durables[kind].number);
        bool is_open = slot != DURABLE_NONE && slot != DURABLE_CATALOG;
        if (is_open && durable_at(w->sw, slot)->unknown_n > before) {
            judge_missed(w, kind, durable_at(w->sw, slot)->unknown_n, messages);
        }
    }
}
