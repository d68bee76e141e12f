/* resume.c - see resume.h. */
#include "switch/resume.h"

#include "switch/connections/connection.h"
#include "switch/connections/events.h"
#include "switch/connections/step.h"
#include "switch/forwarding/order.h"
#include "switch/lifecycle.h"
#include "switch/message.h"
#include "switch/read.h"
#include "switch/transit.h"

/* Messages of one link may end the wait of another, so the links are scanned until none moves. */
void switch_catch_up(tm_switch *sw) {
    bool has_moved = sw->ordered_count > 0;
    while (has_moved) {
        has_moved = false;
        for (uint32_t id = 0; id < sw->connection_count && sw->ordered_count > 0; id++) {
            const tm_connection *connection = switch_at(sw, id);
            if (connection->waits_for_way &&
                !switch_must_follow(sw, id, connection->partial.bytes, tm_load32(connection->partial.bytes))) {
                switch_follow_no_more(sw, id);
                switch_process_partial(sw, id);
                switch_finish_ended(sw);
                has_moved = true;
            }
        }
    }
}

int tm_switch_resume(tm_switch *sw, uint32_t budget_us, uint32_t *left, const tm_event **events, size_t *count) {
    if (sw == NULL || left == NULL || events == NULL || count == NULL) {
        return TM_MISUSED;
    }
    switch_begin(sw);
    uint64_t end_ns = tm_clock_ns() + UINT64_C(1000) * budget_us;
    *left = 0;
    for (uint32_t id = 0; id < sw->connection_count && sw->waiting_count > 0; id++) {
        const tm_connection *connection = switch_at(sw, id);
        if (!connection->waits_for_step ||
            (!sw->is_draining && switch_step_of(sw, connection->partial.bytes) == TM_STEP_WAIT)) {
            continue;
        }
        switch_wait_no_more(sw, id);
        switch_process_partial(sw, id);
        switch_finish_ended(sw);
        if (tm_clock_ns() >= end_ns) {
            *left = sw->waiting_count; /* some of them may have to wait on: the next call finds out */
            break;
        }
    }
    switch_finish(sw);
    return switch_end(sw, events, count);
}

int tm_switch_retake(tm_switch *sw, uint32_t id, const uint8_t *frame, size_t size) {
    if (!switch_knows(sw, id) || frame == NULL || size < WIRE_HEADER_BYTES || size > TM_FRAME_BYTES_MAX ||
        switch_at(sw, id)->state != CONNECTION_OPEN || !switch_is_link(switch_at(sw, id))) {
        return TM_MISUSED;
    }
    uint32_t room = (uint32_t)size + TM_SHAPE_SLACK;
    uint8_t *copy = TM_NEW(&sw->memory, TM_COLD, uint8_t, room);
    if (copy == NULL) {
        return TM_NO_MEMORY;
    }
    memcpy(copy, frame, size);
    switch_begin(sw);
    int result = TM_OK;
    if (switch_at(sw, id)->waits_for_way || switch_must_follow(sw, id, copy, size)) {
        result = switch_put_back(sw, id, copy, (uint32_t)size) ? TM_OK : TM_NO_MEMORY;
        if (result == TM_OK) {
            switch_follow(sw, id);
        }
    } else {
        switch_transit(sw, id, copy, (uint32_t)size, true);
    }
    switch_finish(sw);
    TM_DELETE(&sw->memory, TM_COLD, copy, uint8_t, room);
    return result;
}
