/* step.c - see step.h.
 *
 * Law: a confirmed publish reached every router that wanted it. Therefore it waits until Python reports by
 * tm_switch_step that this router and its neighbours are in step, or that the wait took too long, after which it is
 * refused. All input behind it on its connection waits with it, and the socket is not read meanwhile: order is kept,
 * and at most one read of each connection is buffered.
 */
#include "switch/connections/step.h"

#include "switch/connections/connection.h"
#include "switch/connections/events.h"
#include "switch/message.h"

void switch_stop_reading(tm_switch *sw, uint32_t id) {
    switch_watch(sw, id);
    if (switch_at(sw, id)->is_fed) {
        switch_tell(sw, (tm_event){.type = TM_EVENT_WAITS, .connection = id});
    }
}

void switch_go_on_reading(tm_switch *sw, uint32_t id) {
    tm_connection *connection = switch_at(sw, id);
    connection->clocks.received_ms = sw->now_ms; /* reading was paused, so silence does not count */
    switch_watch(sw, id);
    if (connection->is_fed && switch_is_alive(connection)) {
        switch_tell(sw, (tm_event){.type = TM_EVENT_GOES_ON, .connection = id});
    }
}

void switch_wait(tm_switch *sw, uint32_t id) {
    tm_connection *connection = switch_at(sw, id);
    connection->waits_for_step = true;
    sw->waiting_count++;
    switch_stop_reading(sw, id);
}

void switch_wait_no_more(tm_switch *sw, uint32_t id) {
    tm_connection *connection = switch_at(sw, id);
    if (!connection->waits_for_step) {
        return;
    }
    connection->waits_for_step = false;
    sw->waiting_count--;
    switch_go_on_reading(sw, id);
}

int tm_switch_step(tm_switch *sw, int step) {
    if (sw == NULL || step < TM_STEP_IN || step > TM_STEP_REFUSE) {
        return TM_MISUSED;
    }
    sw->step = (uint8_t)step;
    sw->holds = (uint8_t)((sw->holds & ~SWITCH_WAITS_FOR_STEP) | (step == TM_STEP_WAIT ? SWITCH_WAITS_FOR_STEP : 0));
    return TM_OK;
}
