/* backpressure.c - see backpressure.h.
 *
 * Law: a publish waits if the log will have room after the next commits; a full or failed log refuses it. This concerns
 * connections that published a message which a durable subscription matched, and publishes that request storage. While
 * half of the memory of the log waits for the disk, or its room is scarce and may grow, these connections get no
 * credit, and what they still send is not read. Other connections are not concerned. Each waiting connection has one
 * read buffered (as in step.c); these buffers are processed in order, a bounded piece in each turn.
 */
#include "durable/backpressure.h"

#include "durable/core/append.h"
#include "durable/core/table.h"
#include "switch/connections/credit.h"
#include "switch/connections/step.h"
#include "switch/read.h"

#define PIECE_NS UINT64_C(5000000) /* of a turn, for connections that resume */

bool durable_wait_for_log(tm_switch *sw, uint32_t id, const uint8_t *frame) {
    tm_connection *connection = switch_at(sw, id);
    if (!connection->is_storing && (frame[WIRE_FLAGS] & WIRE_STORE_FLAGS) != WIRE_STORE_FLAGS) {
        return false;
    }
    connection->is_storing = true;
    connection->waits_for_log = true;
    sw->durables->stats.held++;
    switch_stop_reading(sw, id);
    return true;
}

void durable_resume_all(tm_switch *sw, uint32_t id) {
    switch_at(sw, id)->waits_for_log = false;
    sw->durables->stats.held--;
    switch_go_on_reading(sw, id);
}

/* Grant credit to all of them; those that wait are resumed by durable_let_go. */
static void let_go(tm_switch *sw) {
    sw->holds &= (uint8_t)~SWITCH_WAITS_FOR_LOG;
    for (uint32_t id = 0; id < sw->connection_count; id++) {
        if (switch_at(sw, id)->is_storing && !switch_at(sw, id)->waits_for_log) {
            switch_grant(sw, id);
        }
    }
}

void durable_let_go(tm_switch *sw) {
    tm_durables *durables = sw->durables;
    if ((sw->holds & SWITCH_WAITS_FOR_LOG) && (sw->is_draining || !durable_is_behind(durables, 4))) {
        let_go(sw);
    }
    uint64_t end_ns = durables->stats.held > 0 ? tm_clock_ns() + PIECE_NS : 0;
    for (uint32_t left = sw->connection_count;
         left > 0 && durables->stats.held > 0 && (sw->holds & SWITCH_WAITS_FOR_LOG) == 0; left--) {
        uint32_t id = durables->hold_at < sw->connection_count ? durables->hold_at : 0;
        durables->hold_at = id + 1;
        if (switch_at(sw, id)->waits_for_log) {
            durable_resume_all(sw, id);
            switch_process_partial(sw, id);
            if (tm_clock_ns() >= end_ns) {
                durable_wake(sw);
                return;
            }
        }
    }
}
