/* done.c - see done.h. */
#include "durable/keep/done.h"

#include "base/grow.h"
#include "durable/keep/append.h"

#define DONE_PER_RECORD 256U
#define DONE_KEPT_MAX 65536U /* ranges that wait while the log takes nothing; further ones are dropped */

void keep_flush_done(tm_switch *sw) {
    tm_keeps *keeps = sw->keeps;
    uint32_t written = 0;
    while (written < keeps->done_count && keeps->losses == 0) {
        uint32_t count = keeps->done_count - written;
        count = count < DONE_PER_RECORD ? count : DONE_PER_RECORD;
        tm_log_entry entry = {.body = keeps->done + written,
                              .body_size = count * (uint32_t)sizeof *keeps->done,
                              .kind = TM_LOG_ACK,
                              .t_us = keep_wall_ms(sw) * 1000};
        uint64_t n;
        if (keep_append(sw, &entry, &n) != TM_OK) {
            break;
        }
        written += count;
        keeps->stats.acks++;
    }
    keeps->done_count -= written;
    if (keeps->done_count > 0) {
        memmove(keeps->done, keeps->done + written, keeps->done_count * sizeof *keeps->done);
    }
}

bool keep_reserve_done(tm_switch *sw) {
    tm_keeps *keeps = sw->keeps;
    return keeps->done_count < DONE_KEPT_MAX && tm_grow(&keeps->memory, TM_COLD, &keeps->done, sizeof *keeps->done,
                                                        &keeps->done_capacity, keeps->done_count + 1);
}

void keep_note_done(tm_switch *sw, uint32_t holder, uint64_t first, uint64_t last) {
    tm_keeps *keeps = sw->keeps;
    for (uint32_t back = 1; back <= 2 && back <= keeps->done_count;
         back++) { /* a subscription may be two holders, whose ranges alternate */
        tm_log_done *before = &keeps->done[keeps->done_count - back];
        if (before->holder == holder && first <= before->last + 1 && last > before->last && first >= before->first) {
            before->last = last;
            return;
        }
    }
    if (!keep_reserve_done(sw)) {
        keeps->is_done_forgotten = true;
        return;
    }
    keeps->done[keeps->done_count++] = (tm_log_done){.holder = holder, .first = first, .last = last};
}
