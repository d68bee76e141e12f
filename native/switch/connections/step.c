/* step.c - see step.h.
 *
 * Law: a confirmed publish reached every router that wanted it. Therefore it waits until Python reports by
 * tm_switch_step that this router and its neighbours are in step, or that the wait took too long, after which it is
 * refused. One that is to be stored waits for what durable subscriptions elsewhere want, too (C14). All input behind it
 * on its connection waits with it, and the socket is not read meanwhile: order is kept, and at most one read of each
 * connection is buffered.
 */
#include "switch/connections/step.h"

#include "switch/connections/connection.h"
#include "switch/connections/events.h"
#include "switch/message.h"
#include "tm_durables.h"

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

int switch_step_of(const tm_switch *sw, const uint8_t *frame) {
    if (!(frame[WIRE_FLAGS] & WIRE_FLAG_CONFIRM)) {
        return TM_STEP_IN;
    }
    bool stores = sw->durable != NULL || sw->not_storing == TM_DURABLES_NONE_YET; /* others are refused in any case */
    bool is_stricter =
        stores && sw->stored_step > sw->step && (frame[WIRE_FLAGS] & WIRE_STORE_FLAGS) == WIRE_STORE_FLAGS;
    return is_stricter ? sw->stored_step : sw->step;
}

static int set_step(tm_switch *sw, int step, uint8_t *of) {
    if (step < TM_STEP_IN || step > TM_STEP_REFUSE) {
        return TM_MISUSED;
    }
    *of = (uint8_t)step;
    bool may_wait = sw->step == TM_STEP_WAIT || sw->stored_step == TM_STEP_WAIT;
    sw->holds = (uint8_t)((sw->holds & ~SWITCH_WAITS_FOR_STEP) | (may_wait ? SWITCH_WAITS_FOR_STEP : 0));
    return TM_OK;
}

int tm_switch_step(tm_switch *sw, int step) {
    return sw != NULL ? set_step(sw, step, &sw->step) : TM_MISUSED;
}

int tm_switch_step_stored(tm_switch *sw, int step) {
    return sw != NULL ? set_step(sw, step, &sw->stored_step) : TM_MISUSED;
}
