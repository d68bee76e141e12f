/* check.h - the rules of wire.md for a data frame from a client or a neighbour. */
#ifndef TM_SWITCH_MATCHING_CHECK_H
#define TM_SWITCH_MATCHING_CHECK_H

#include "switch/message.h"

/* Check the header, except for what depends on the body, and take EVERY_HOME out of it; false: a fault was reported. */
bool switch_check_header(tm_switch *sw, tm_message *message);
/* Check and decode the attributes, and check the extensions; false: a fault was reported. */
bool switch_check_body(tm_switch *sw, tm_message *message, extensions *found);
/* Return what the shape stores for names unknown to the table of classes, whose filters never change. */
uint64_t switch_unknown_to_classes(const tm_switch *sw);
/* Decode the attributes of a message into `sw->attributes`; false: they are malformed. */
bool switch_decode(tm_switch *sw, tm_message *message);
/* Decode all attributes of a checked message again, including those that its shape leaves out. */
void switch_decode_all(tm_switch *sw, tm_message *message);
static inline bool switch_is_expired(const extensions *found) {
    return found->has_expiry && found->expiry_ns <= tm_clock_unix_ns();
}

#endif
