/* reuse.h - R13: messages carry the set of routers that want them, with a digest of the tables it was made from.
 *
 * Law: a set is written or accepted only while the network table is the one that the digest describes, as the owner of
 * the switch reports. Bits of a set are places among the routers that the digest covers.
 */
#ifndef TM_SWITCH_REUSE_H
#define TM_SWITCH_REUSE_H

#include "model/wire.h"
#include "network/places.h"
#include "switch/forwarding/worth.h"

typedef struct tm_reuse {
    tm_places places;
    tm_worth worth;
    bool is_whole; /* false: the table is changing, and there is no digest */
    uint8_t digest[WIRE_DIGEST_BYTES];
    uint64_t members[WIRE_SET_BYTES_MAX / 8];                  /* bitset over places: the set of the current message */
    uint8_t route[1 + WIRE_DIGEST_BYTES + WIRE_SET_BYTES_MAX]; /* the ROUTE of a message that enters here */
} tm_reuse;

typedef struct tm_message tm_message; /* message.h */

/* Like switch_depart, but a message that enters here carries the set of routers that match, by which routers with equal
 * tables forward it without matching (R13). */
int switch_reuse(tm_switch *sw, const tm_message *message, uint32_t key, uint32_t came_from, uint32_t *behind);
/* Teach the shape of a message that is forwarded without a match (switch_teach_shape), if the last one of its shape was
 * so, too: more are then likely. Where each message has names of its own, that would cost what is saved. */
void switch_teach_again(tm_switch *sw, const tm_message *message);

#endif
