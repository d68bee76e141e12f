/* plant.c - see plant.h.
 *
 * Law: a bug is planted only if the owner of the switch requests it. Each wrong delivery is reported to the owner, and
 * recorded as it was made.
 */
#include "switch/observe/plant.h"

#include "switch/connections/events.h"

/* Return a subscriber after `id` that the message is not for; SUBSCRIBER_NONE: there is none. */
static uint32_t stranger_after(tm_switch *sw, const tm_message *message, uint32_t id) {
    for (uint32_t step = 1; step < sw->subscriber_count; step++) {
        uint32_t other = (id + step) % sw->subscriber_count;
        const tm_subscriber *subscriber = switch_subscriber(sw, other);
        if (subscriber->state == SUBSCRIBER_LIVE && subscriber->stamp != sw->stamp &&
            subscriber->connection != message->from && subscriber->connection != CONNECTION_NONE) {
            return other;
        }
    }
    return SUBSCRIBER_NONE;
}

uint32_t switch_plant(tm_switch *sw, const tm_message *message, uint32_t *id) {
    static const uint32_t COPIES[] = {[TM_PLANT_DROP] = 0, [TM_PLANT_TWICE] = 2, [TM_PLANT_ASTRAY] = 1};
    tm_plant *plant = &sw->plant;
    if (message->is_dry || ++plant->deliveries % plant->every != 0) {
        return 1;
    }
    uint32_t right = *id;
    uint32_t stranger = plant->bug == TM_PLANT_ASTRAY ? stranger_after(sw, message, right) : right;
    if (stranger == SUBSCRIBER_NONE) {
        return 1;
    }
    tm_event event = {.type = TM_EVENT_PLANTED,
                      .connection = switch_subscriber(sw, right)->connection,
                      .code = switch_subscriber(sw, stranger)->connection,
                      .kind = message->frame[WIRE_KIND]};
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
