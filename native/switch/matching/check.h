/* check.h - the rules of wire.md about a data frame from a client or a neighbour. */
#ifndef TM_SWITCH_MATCHING_CHECK_H
#define TM_SWITCH_MATCHING_CHECK_H

#include "switch/message.h"

/* The header, but for what depends on the rest. false: a fault was told. */
bool switch_check_header(tm_switch *sw, const tm_message *message);
/* Attributes, which are decoded, and extensions. false: a fault was told. */
bool switch_check_body(tm_switch *sw, tm_message *message, extensions *found);
/* What the table of classes, whose filters never change, remembers of a name that none of them speaks of. */
uint64_t switch_unknown_to_classes(const tm_switch *sw);
/* Decode the attributes of a message that was checked once more, this time all of them. */
void switch_decode_all(tm_switch *sw, tm_message *message);
static inline bool switch_is_expired(const extensions *found) {
    return found->has_expiry && found->expiry_ns <= tm_clock_unix_ns();
}

#endif
