/* plant.c - deliveries that go wrong on purpose, so that a test can ask whether the records give them away.
 *
 * Law: nothing is planted unless the owner of the switch asked for it. Each delivery that went wrong is told to him,
 * and recorded as it was done.
 */
#include "switch/message.h"

/* A client after `id` whom the message is not for; CONNECTION_NONE: there is none. */
static uint32_t stranger_after(tm_switch *sw, const parts *message, uint32_t id) {
    for (uint32_t step = 1; step < sw->connection_count; step++) {
        uint32_t other = (id + step) % sw->connection_count;
        const tm_connection *connection = switch_at(sw, other);
        if (connection->state == CONNECTION_OPEN && !switch_is_link(connection) && connection->stamp != sw->stamp &&
            other != message->from) {
            return other;
        }
    }
    return CONNECTION_NONE;
}

uint32_t switch_plant(tm_switch *sw, const parts *message, uint32_t *id) {
    static const uint32_t COPIES[] = {[TM_PLANT_DROP] = 0, [TM_PLANT_TWICE] = 2, [TM_PLANT_ASTRAY] = 1};
    tm_plant *plant = &sw->plant;
    if (message->is_dry || ++plant->deliveries % plant->every != 0) {
        return 1;
    }
    uint32_t right = *id;
    uint32_t stranger = plant->bug == TM_PLANT_ASTRAY ? stranger_after(sw, message, right) : right;
    if (stranger == CONNECTION_NONE) {
        return 1;
    }
    tm_event event = {
        .type = TM_EVENT_PLANTED, .connection = right, .code = stranger, .kind = message->frame[WIRE_KIND]};
    uint8_t *told = switch_tell_bytes(sw, event, WIRE_HEADER_BYTES);
    if (told == NULL) {
        return 1;
    }
    memcpy(told, message->frame, WIRE_HEADER_BYTES);
    *id = stranger;
    return COPIES[plant->bug];
}

int tm_switch_plant(tm_switch *sw, uint32_t bug, uint64_t every) {
    if (sw == NULL || bug > TM_PLANT_ASTRAY || (bug != TM_PLANT_NONE && every == 0)) {
        return TM_MISUSED;
    }
    sw->plant = (tm_plant){.bug = bug, .every = every};
    return TM_OK;
}
