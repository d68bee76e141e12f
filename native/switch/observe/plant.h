/* plant.h - deliveries that fail on purpose, so that a test can check whether the records show it. */
#ifndef TM_SWITCH_OBSERVE_PLANT_H
#define TM_SWITCH_OBSERVE_PLANT_H

#include "switch/message.h"

/* Return how many copies to deliver; with a planted bug it may differ from 1, and `*id` may become another subscriber.
 */
uint32_t switch_plant(tm_switch *sw, const tm_message *message, uint32_t *id);

#endif
