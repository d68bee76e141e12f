/* step.c - see step.h.
 *
 * Law: what was acknowledged had its way. So a confirmed publish waits until somebody above says that this router and
 * its neighbours are in step, or that it took too long, and is refused then. With it waits all that came behind it on
 * its connection, whose socket is not read meanwhile: order is kept, and what waits is one read for each connection.
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
    connection->clocks.received_ms = sw->now_ms; /* it could not be heard */
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
    sw->holds = (uint8_t)((sw->holds & ~SWITCH_HOLD_STEP) | (step == TM_STEP_WAIT ? SWITCH_HOLD_STEP : 0));
    return TM_OK;
}
