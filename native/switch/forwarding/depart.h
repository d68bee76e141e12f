/* depart.h - the links by which a message leaves, whether it entered here or came by another link. */
#ifndef TM_SWITCH_FORWARDING_DEPART_H
#define TM_SWITCH_FORWARDING_DEPART_H

#include "switch/message.h"

/* Queue copies for the links that lead to matching routers of the network table, in any generation in force. */
int switch_depart(tm_switch *sw, const tm_message *message, uint32_t key, uint32_t came_from, uint32_t *behind);
/* Mark the links that lead to a router in any generation in force; true if there is a route to it */
bool switch_mark_next_hops(tm_net *net, uint32_t key, uint32_t router, uint32_t came_from);
/* Mark the links towards each router that matches: `*count` of them, in `net->found`; without memory none. Returns
 * TM_OK or TM_TOO_COSTLY. */
int switch_mark_wanting(tm_switch *sw, const tm_message *message, uint32_t key, uint32_t came_from, uint32_t *count,
                        uint32_t *behind);
/* R16: mark the links towards the routers that were chosen for worker groups. */
void switch_mark_chosen(tm_net *net, const tm_message *message, uint32_t key, uint32_t came_from, uint32_t *behind);
/* Queue one copy for each marked link, and clear the marks. */
void switch_queue_marked(tm_switch *sw, const tm_message *message);
/* Queue a copy for a neighbour by its place. */
void switch_queue_copy(tm_switch *sw, const tm_message *message, uint32_t place);
/* Match against the network table. Without memory for the answer the message is dropped here; on TM_TOO_COSTLY the
 * caller drops it for local clients, too. */
int switch_ask_network(tm_switch *sw, const tm_message *message, tm_query *query, tm_hits *hits);
/* Match a message only for its shape, until the shape is trimmed: a name may be left out only after every table was
 * matched with it. The answer is ignored. */
void switch_teach_shape(tm_switch *sw, const tm_message *message);
/* Return the policy's result if the table gave no answer. Without memory the message was dropped and counted, so
 * `*behind` is 1 and it is not also counted as unmatched. */
int switch_unanswered(int result, uint32_t *behind);

#endif
