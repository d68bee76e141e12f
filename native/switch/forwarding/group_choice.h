/* group_choice.h - R16: at which router a member of a worker group gets a message that enters here. */
#ifndef TM_SWITCH_FORWARDING_GROUP_CHOICE_H
#define TM_SWITCH_FORWARDING_GROUP_CHOICE_H

#include "switch/message.h"

/* A message enters here, and `count` rows of local filters match: choose a router for each worker group that wants it.
 * `*onward` is the message as other routers get it, with the choices in its frame. TM_OK, or TM_TOO_COSTLY; without
 * memory, or room in the frame, groups get nothing of it, which is counted. */
int switch_choose(tm_switch *sw, tm_message *message, size_t count, tm_message *onward);
/* Look up the names of a message in transit in the table of groups, until its shape is trimmed. */
void switch_learn_names(tm_switch *sw, const tm_message *message);
/* Nothing of a message with choices has been given to members yet. */
void switch_begin_sharing(tm_switch *sw, const tm_message *message);
/* Does a member here get the message as one of the group, by its number: is this router chosen, and had no member an
 * earlier try? Alone it always is. */
bool switch_shares(tm_switch *sw, const tm_message *message, uint32_t group);
/* Members here have theirs. Pass the message on for each group that this router was chosen for and has no member of,
 * and count where it ends here; returns for how many groups no member here got it. */
uint32_t switch_end_sharing(tm_switch *sw, const tm_message *message);
/* Does a message that enters here need a choice? */
static inline bool switch_has_groups(const tm_switch *sw) {
    return sw->net != NULL && (sw->net->shared.network.count > 0 || sw->subscriptions.groups.live > 0);
}

#endif
