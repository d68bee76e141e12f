/* guarded.h - what guards a subscriber: two guards (switch/access/guard.h), by number, and what is its own.
 *
 * Law: a guard counts the subscribers that have it, so that it is not freed before them. What guards a subscriber is
 * beside it, not in it, so that a switch without guards has no memory for them.
 */
#ifndef TM_SUBSCRIBERS_GUARDED_H
#define TM_SUBSCRIBERS_GUARDED_H

#include "switch/state.h"

struct tm_guarded {
    uint32_t door;
    uint32_t plain_door; /* `door`, unless messages get a stamp before it is asked */
    uint32_t hand;
    uint32_t answers;
    uint32_t answers_id;
    uint32_t refuse;
    bool observes;
    uint32_t name_size;
    uint32_t stamp_size;
    uint32_t stamp_count;
    uint32_t reason_size;
    uint8_t bytes[]; /* name, stamp and reason, and a zero */
};

static inline const uint8_t *guarded_name(const tm_guarded *guarded) {
    return guarded->bytes;
}
static inline const uint8_t *guarded_stamp(const tm_guarded *guarded) {
    return guarded->bytes + guarded->name_size;
}
static inline const char *guarded_reason(const tm_guarded *guarded) {
    return (const char *)guarded->bytes + guarded->name_size + guarded->stamp_size; /* ends with a zero */
}
/* Return the bytes of its block. */
static inline size_t guarded_bytes(const tm_guarded *guarded) {
    return sizeof *guarded + guarded->name_size + guarded->stamp_size + guarded->reason_size + 1;
}

/* Return what guards a subscriber, or NULL. */
const tm_guarded *switch_guarded(const tm_switch *sw, uint32_t subscriber);
/* Make room for what guards a subscriber; the switch has guards. false: no memory. */
bool switch_reserve_guarded(tm_switch *sw, uint32_t subscriber);
/* Guard a subscriber, for which there is room, by a block that it then owns, in place of what guarded it. NULL: it is
 * not guarded. */
void switch_set_guarded(tm_switch *sw, uint32_t subscriber, tm_guarded *guarded);

#endif
