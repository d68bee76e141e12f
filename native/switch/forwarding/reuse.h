/* reuse.h - R13: what this router holds of what others want, as messages carry it: who wants them.
 *
 * Law: a set is written, or believed, only while the network table is the one that the digest is of, which the owner of
 * the switch says. It counts routers by their places among those that the digest is about.
 */
#ifndef TM_SWITCH_REUSE_H
#define TM_SWITCH_REUSE_H

#include "model/wire.h"
#include "network/places.h"
#include "switch/forwarding/worth.h"

typedef struct tm_reuse {
    tm_places places;
    tm_worth worth;
    bool is_whole; /* else the table is changing, and there is no digest */
    uint8_t digest[WIRE_DIGEST_BYTES];
    uint64_t members[WIRE_SET_BYTES_MAX / 8];                  /* bitset over places: the set of the message at hand */
    uint8_t route[1 + WIRE_DIGEST_BYTES + WIRE_SET_BYTES_MAX]; /* the ROUTE of a message that enters here */
} tm_reuse;

typedef struct tm_message tm_message; /* message.h */

/* As switch_depart, but a message that enters here carries the set of those that want it, by which routers with equal
 * tables send it on without asking theirs (R13). */
int switch_reuse(tm_switch *sw, const tm_message *message, uint32_t key, uint32_t came_from, uint32_t *behind);

#endif
