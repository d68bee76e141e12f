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

/* ---- depart.c: TM_FORWARD_WANTED ---- */

/* To the links behind which the network table knows somebody who wants the message, in any generation in force. */
int switch_depart(tm_switch *sw, const tm_message *message, uint32_t key, uint32_t came_from, uint32_t *behind);
/* Mark the links behind which a router that wants something lies in any generation in force; is there one? */
bool switch_mark_ways(tm_net *net, uint32_t key, uint32_t router, uint32_t came_from);
/* Mark the links towards each router that wants the message: `*count` of them, in `net->found`. Without memory for the
 * answer there are none. TM_OK or TM_TOO_COSTLY. */
int switch_mark_wanting(tm_switch *sw, const tm_message *message, uint32_t key, uint32_t came_from, uint32_t *count,
                        uint32_t *behind);
/* R16: mark the links towards the routers that were chosen for groups. */
void switch_mark_chosen(tm_net *net, const tm_message *message, uint32_t key, uint32_t came_from, uint32_t *behind);
/* Queue one copy for each link that was marked, and clear the marks. */
void switch_queue_marked(tm_switch *sw, const tm_message *message);
/* Queue a copy for a neighbour, by its place. */
void switch_queue_copy(tm_switch *sw, const tm_message *message, uint32_t place);

/* Ask the network table. Without memory for the answer the message is dropped here; TM_TOO_COSTLY is left to the
 * caller, who drops it for local clients too. */
int switch_ask_network(tm_switch *sw, const tm_message *message, tm_query *query, tm_hits *hits);
/* A message goes on, or nowhere, whatever the table says. It is asked all the same until the shape of the message is
 * trimmed: a name is left out only if every table was asked whether it knows it. */
void switch_teach_shape(tm_switch *sw, const tm_message *message);
/* The table gave no answer: what the policy returns then. Without memory for it the message is dropped and counted, so
 * that it is not counted as unmatched, too. */
int switch_unanswered(int result, uint32_t *behind);

/* ---- flood.c: TM_FORWARD_FLOOD ---- */

/* Queue a copy for each link that switch_depart would choose. The table is not asked where every filter of other
 * routers matches everything. */
int switch_flood(tm_switch *sw, const tm_message *message, uint32_t key, uint32_t came_from, uint32_t *behind);

/* ---- match_first.c: TM_FORWARD_MATCH_FIRST ---- */

/* As switch_depart, but a message that enters here lists the routers that it goes to. */
int switch_match_first(tm_switch *sw, const tm_message *message, uint32_t key, uint32_t came_from, uint32_t *behind);
/* The message with a ROUTE of these bytes, in front of its other extensions; as it is where there is no room. Its frame
 * is good until the next one is made. */
tm_message switch_with_route(tm_switch *sw, const tm_message *message, const uint8_t *route, uint32_t size);

/* ---- reuse.c: TM_FORWARD_DESTINATIONS ---- */

/* As switch_depart, but a message that enters here carries the set of those that want it, by which routers with equal
 * tables send it on without asking theirs (R13). */
int switch_reuse(tm_switch *sw, const tm_message *message, uint32_t key, uint32_t came_from, uint32_t *behind);

/* ---- by_root.c: TM_FORWARD_BY_ROOT ---- */

/* As switch_depart, but a message that enters here goes along the tree of the root of its class. */
int switch_go_by_root(tm_switch *sw, const tm_message *message, uint32_t key, uint32_t came_from, uint32_t *behind);

#endif
