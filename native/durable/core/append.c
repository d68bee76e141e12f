/* append.c - see append.h. */
#include "durable/core/append.h"

#include "durable/tables/waits.h"

bool durable_is_behind(const tm_durables *durables, uint32_t n) {
    uint64_t room = durables->options.ring_bytes - durables->options.ring_bytes / n;
    bool has_many_waits = tm_waits_count(&durables->waits) > durables->waits.rows_max / n;
    return tm_log_is_behind(durables->log, has_many_waits ? durables->options.ring_bytes : room) != 0;
}

void durable_note_load(tm_switch *sw) {
    if ((sw->holds & SWITCH_WAITS_FOR_LOG) == 0 && durable_is_behind(sw->durables, 2)) {
        sw->holds |= SWITCH_WAITS_FOR_LOG;
        sw->durables->stats.holds++;
    }
}

uint64_t durable_wall_ms(const tm_switch *sw) {
    return (uint64_t)((int64_t)(tm_clock_unix_ns() / 1000000) + sw->durables->wall_ahead_ms);
}

int durable_append(tm_switch *sw, const tm_log_entry *entry, uint64_t *n) {
    tm_durables *durables = sw->durables;
    uint64_t place = tm_log_end(durables->log);
    int result = tm_log_append(durables->log, entry, n);
    if (result == TM_OK) {
        durables->last_n = *n;
        durables->last_place = place;
        durables->is_unflushed = true;
        durable_note_load(sw);
    }
    return result;
}
