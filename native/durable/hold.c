/* hold.c - see hold.h.
 *
 * Law: a publish waits, and is not refused, where the disk will have room for it by and by; a full or failed log
 * refuses it. Held are those connections that have published something that a keep wanted, and publishes that ask for
 * the disk: they get no credit while half of the memory of the log waits for it, or its room is scarce and may become
 * more, and what they had credit for is not read. Others are not concerned. What waits is one read for each connection
 * (step.c has the same), and goes on in order, a piece a turn.
 */
#include "durable/hold.h"

#include "durable/keep/append.h"
#include "durable/keep/table.h"
#include "switch/connections/credit.h"
#include "switch/connections/step.h"
#include "switch/read.h"

#define PIECE_NS UINT64_C(5000000) /* of a turn, for connections that go on */

bool keep_hold_for_log(tm_switch *sw, uint32_t id, const uint8_t *frame) {
    tm_connection *connection = switch_at(sw, id);
    if (!connection->is_keeping && (frame[WIRE_FLAGS] & WIRE_KEPT_FLAGS) != WIRE_KEPT_FLAGS) {
        return false;
    }
    connection->is_keeping = true;
    connection->waits_for_log = true;
    sw->keeps->stats.held++;
    switch_stop_reading(sw, id);
    return true;
}

void keep_hold_no_more(tm_switch *sw, uint32_t id) {
    switch_at(sw, id)->waits_for_log = false;
    sw->keeps->stats.held--;
    switch_go_on_reading(sw, id);
}

/* All of them have credit again; those that wait go on from where the last turn has stopped. */
static void let_go(tm_switch *sw) {
    sw->holds &= (uint8_t)~SWITCH_HOLD_LOG;
    for (uint32_t id = 0; id < sw->connection_count; id++) {
        if (switch_at(sw, id)->is_keeping && !switch_at(sw, id)->waits_for_log) {
            switch_grant(sw, id);
        }
    }
}

void keep_let_go(tm_switch *sw) {
    tm_keeps *keeps = sw->keeps;
    if ((sw->holds & SWITCH_HOLD_LOG) && (sw->is_draining || !keep_is_behind(keeps, 4))) {
        let_go(sw);
    }
    uint64_t end_ns = keeps->stats.held > 0 ? tm_clock_ns() + PIECE_NS : 0;
    for (uint32_t left = sw->connection_count; left > 0 && keeps->stats.held > 0 && (sw->holds & SWITCH_HOLD_LOG) == 0;
         left--) {
        uint32_t id = keeps->hold_at < sw->connection_count ? keeps->hold_at : 0;
        keeps->hold_at = id + 1;
        if (switch_at(sw, id)->waits_for_log) {
            keep_hold_no_more(sw, id);
            switch_take_kept(sw, id);
            if (tm_clock_ns() >= end_ns) {
                keep_wake(sw);
                return;
            }
        }
    }
}
