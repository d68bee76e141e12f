/* credit.h - how much a publisher may send: granted as it is used, withheld for receivers that block. */
#ifndef TM_SWITCH_CONNECTIONS_CREDIT_H
#define TM_SWITCH_CONNECTIONS_CREDIT_H

#include "switch/state.h"

/* Grant more credit if half of it is used and nothing withholds it. */
void switch_grant(tm_switch *sw, uint32_t connection);
/* Grant to publishers with a limited rate what their buckets hold by now; at each tick. */
void switch_grant_rated(tm_switch *sw);
/* Withhold credit from a publisher (a connection), because the queue of a subscriber is half full, until it is a
 * quarter full. true if the publisher is now blocked */
bool switch_block(tm_switch *sw, uint32_t receiver, uint32_t publisher);
/* Grant credit again to publishers whose receivers no longer block. */
void switch_unblock(tm_switch *sw);

#endif
