/* depart.h - the links by which a message leaves, whether it entered here or came by another link. */
#ifndef TM_SWITCH_FORWARDING_DEPART_H
#define TM_SWITCH_FORWARDING_DEPART_H

#include "switch/message.h"

/* To the links behind which the network table knows somebody who wants the message, in any generation in force. */
int switch_depart(tm_switch *sw, const tm_message *message, uint32_t key, uint32_t came_from, uint32_t *behind);
/* Mark the links behind which a router that wants something lies in any generation in force; is there one? */
bool switch_mark_next_hops(tm_net *net, uint32_t key, uint32_t router, uint32_t came_from);
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

#endif
