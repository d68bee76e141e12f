/* credit.h - how much a publisher may send: granted as it is used up, withheld for receivers that block. */
#ifndef TM_SWITCH_CONNECTIONS_CREDIT_H
#define TM_SWITCH_CONNECTIONS_CREDIT_H

#include "switch/state.h"

/* More credit where half of it is used up and nothing blocks. */
void switch_grant(tm_switch *sw, uint32_t connection);
/* The queue of a subscriber is half full: the publisher, a connection, gets no more credit until it is a quarter full.
 * Is it so? */
bool switch_block(tm_switch *sw, uint32_t receiver, uint32_t publisher);
/* Grant credit again to the publishers whose receivers block no longer. */
void switch_unblock(tm_switch *sw);

#endif
