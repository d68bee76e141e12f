/* forward.h - forwarding policies: how a switch forwards messages between routers, by the strategy in use.
 *
 * Law: a policy is chosen as the switch joins the network and never changed; each strategy names its policy, and no
 * other code here depends on strategies. What is accepted from a neighbour (`tm_routes_accept`) and what is written
 * into a copy follow from the routes and the hop limit, and do not depend on the policy.
 */
#ifndef TM_FORWARD_H
#define TM_FORWARD_H

#include "switch/message.h"

struct tm_forwarding {
    /* Queue copies to links by the routes of `key`, never to the neighbour `came_from`; `*behind` is 0 if no router
     * there wants the message. TM_TOO_COSTLY: no copy was queued, and the caller must not deliver one. */
    int (*targets)(tm_switch *sw, const tm_message *message, uint32_t key, uint32_t came_from, uint32_t *behind);
};

/* Return the policy of a number TM_FORWARD_*; NULL: there is none. */
const tm_forwarding *switch_forwarding(uint32_t number);

#endif
