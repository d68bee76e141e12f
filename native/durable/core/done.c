/* done.c - see done.h. */
#include "durable/core/done.h"

#include "base/grow.h"
#include "durable/core/append.h"

#define DONE_PER_RECORD 256U
#define DONE_KEPT_MAX 65536U /* ranges that wait while the log takes nothing; further ones are dropped */

void durable_flush_done(tm_switch *sw) {
    tm_durables *durables = sw->durables;
    uint32_t written = 0;
    while (written < durables->done_count && durables->losses == 0) {
        uint32_t count = durables->done_count - written;
        count = count < DONE_PER_RECORD ? count : DONE_PER_RECORD;
        tm_log_entry entry = {.body = durables->done + written,
                              .body_size = count * (uint32_t)sizeof *durables->done,
                              .kind = TM_LOG_ACK,
                              .t_us = durable_wall_ms(sw) * 1000};
        uint64_t n;
        if (durable_append(sw, &entry, &n) != TM_OK) {
            break;
        }
        written += count;
        durables->stats.acks++;
    }
    durables->done_count -= written;
    if (durables->done_count > 0) {
        memmove(durables->done, durables->done + written, durables->done_count * sizeof *durables->done);
    }
}

bool durable_reserve_done(tm_switch *sw) {
    tm_durables *durables = sw->durables;
    return durables->done_count < DONE_KEPT_MAX &&
           tm_grow(&durables->memory, TM_COLD, &durables->done, sizeof *durables->done, &durables->done_capacity,
                   durables->done_count + 1);
}

void durable_note_done(tm_switch *sw, uint32_t holder, uint64_t first, uint64_t last) {
    tm_durables *durables = sw->durables;
    for (uint32_t back = 1; back <= 2 && back <= durables->done_count;
         back++) { /* a subscription may be two holders, whose ranges alternate */
        tm_log_done *before = &durables->done[durables->done_count - back];
        if (before->holder == holder && first <= before->last + 1 && last > before->last && first >= before->first) {
            before->last = last;
            return;
        }
    }
    if (!durable_reserve_done(sw)) {
        durables->is_done_forgotten = true;
        return;
    }
    durables->done[durables->done_count++] = (tm_log_done){.holder = holder, .first = first, .last = last};
}
