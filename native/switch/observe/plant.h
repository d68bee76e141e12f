/* plant.h - deliveries that go wrong on purpose, so that a test can ask whether the records give them away. */
#ifndef TM_SWITCH_OBSERVE_PLANT_H
#define TM_SWITCH_OBSERVE_PLANT_H

#include "switch/message.h"

/* How often a delivery is made, and to whom, where a bug is planted. */
uint32_t switch_plant(tm_switch *sw, const tm_message *message, uint32_t *id);

#endif
