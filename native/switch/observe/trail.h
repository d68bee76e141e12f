/* trail.h - the trail of a message: what arrived, matched and left, for traces and records. */
#ifndef TM_SWITCH_OBSERVE_TRAIL_H
#define TM_SWITCH_OBSERVE_TRAIL_H

#include "switch/message.h"

/* Begin the trail of a message that may be recorded or is traced; NULL: it is neither, or there is no memory. */
tm_trail *switch_trail_new(tm_switch *sw, const tm_message *message, const extensions *found);
/* Begin the trail of a message that is traced, a dry run, or sampled; NULL: it is none of them, or there is no memory.
 */
static inline tm_trail *switch_trail_begin(tm_switch *sw, const tm_message *message, const extensions *found) {
    return sw->records != NULL || found->trace != 0 ? switch_trail_new(sw, message, found) : NULL;
}
/* Time a match, if the message has a trail. */
static inline uint64_t switch_trail_clock(const tm_message *message) {
    return message->trail != NULL ? tm_clock_ns() : 0;
}
static inline void switch_trail_matched(const tm_message *message, uint64_t start_ns) {
    if (message->trail != NULL) {
        message->trail->head.match_ns += tm_clock_ns() - start_ns;
    }
}
/* Add a row to a list of the current trail; without memory the trail is marked incomplete. */
void switch_trail_add(tm_switch *sw, unsigned list, uint64_t number, uint64_t id);
/* Pass the trail to the trace and the records that it was begun for; `reason`: TM_DROP_* or TM_TRACE_NOT_DROPPED. */
void switch_trail_end(tm_switch *sw, const tm_message *message, unsigned reason);
/* true if the trail includes one matching filter of each other router, which needs another kind of match */
static inline bool switch_is_traced(const tm_message *message) {
    return message->trail != NULL && message->trail->is_traced;
}
/* Record a message that is refused before it is matched. */
void switch_record_refusal(tm_switch *sw, const tm_message *message, unsigned reason);
void switch_trail_free(tm_trail *trail, tm_memory *memory);

#endif
