/* forward.h - forwarding policies: what a switch does with messages between routers, by the strategy that they follow.
 *
 * Law: a policy is chosen as the switch joins the others and never changed; each strategy names its policy, and no
 * other code here knows of strategies. What is taken from a neighbour (`tm_routes_accept`) and what is written into a
 * copy follow from the routes and the hop limit, and are the same for all policies.
 */
#ifndef TM_FORWARD_H
#define TM_FORWARD_H

#include "switch/message.h"

struct tm_forwarding {
    /* Queue copies to links by the routes of `key`, never to the neighbour `came_from`; `*behind` is 0 where nobody
     * there wants the message. TM_TOO_COSTLY: no copies, and nobody else is to have one. */
    int (*targets)(tm_switch *sw, const tm_message *message, uint32_t key, uint32_t came_from, uint32_t *behind);
};

/* The policy of a number TM_FORWARD_*; NULL: there is none. */
const tm_forwarding *switch_forwarding(uint32_t number);

#endif
