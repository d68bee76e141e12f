/* group_choice.h - R16: the router whose member of a worker group gets a message that enters here. */
#ifndef TM_SWITCH_FORWARDING_GROUP_CHOICE_H
#define TM_SWITCH_FORWARDING_GROUP_CHOICE_H

#include "switch/message.h"

/* Choose a router for each worker group that matches a message that enters here, of which `count` local filters match.
 * `*onward` is the message for other routers, with the choices in its frame. Returns TM_OK or TM_TOO_COSTLY; without
 * memory, or room in the frame, no group gets it, which is counted. */
int switch_choose(tm_switch *sw, tm_message *message, size_t count, tm_message *onward);
/* Match the names of a message in transit against the table of groups, until its shape is trimmed. */
void switch_learn_names(tm_switch *sw, const tm_message *message);
/* Start local delivery to worker groups: no choice of the message has been served. */
void switch_begin_sharing(tm_switch *sw, const tm_message *message);
/* true if a member here gets the message for a group, by its number: this router is chosen, and no member here got an
 * earlier attempt. Without a network, always true */
bool switch_shares(tm_switch *sw, const tm_message *message, uint32_t group);
/* End local delivery to worker groups: pass the message on for each group that this router was chosen for and has no
 * member of, and count it where that fails. Returns for how many groups no member here got it. */
uint32_t switch_end_sharing(tm_switch *sw, const tm_message *message);
/* true if a message that enters here needs a choice */
static inline bool switch_has_groups(const tm_switch *sw) {
    return sw->net != NULL && (sw->net->shared.network.count > 0 || sw->subscriptions.groups.live > 0);
}

#endif
