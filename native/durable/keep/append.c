/* append.c - see append.h. */
#include "durable/keep/append.h"

#include "durable/tables/waits.h"

bool keep_is_behind(const tm_keeps *keeps, uint32_t n) {
    uint64_t room = keeps->options.ring_bytes - keeps->options.ring_bytes / n;
    bool has_many_waits = tm_waits_count(&keeps->waits) > keeps->waits.rows_max / n;
    return tm_log_is_behind(keeps->log, has_many_waits ? keeps->options.ring_bytes : room) != 0;
}

void keep_note_load(tm_switch *sw) {
    if ((sw->holds & SWITCH_HOLD_LOG) == 0 && keep_is_behind(sw->keeps, 2)) {
        sw->holds |= SWITCH_HOLD_LOG;
        sw->keeps->stats.holds++;
    }
}

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
