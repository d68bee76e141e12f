/* unmatched.h - the latest messages that matched no subscription, kept for display.
 *
 *     oldest ──[entry][entry][filler]│[entry]── end          a ring; each entry is in one piece, a multiple of 8 bytes
 *     entry    unmatched_entry, then packed attributes
 *
 * Law: the ring never grows, and adding never fails: a new entry overwrites the oldest ones. An entry larger than the
 * ring is numbered and not kept, so a gap in the numbers stands for messages that can no longer be shown. Payloads are
 * not kept.
 */
#ifndef TM_SWITCH_UNMATCHED_H
#define TM_SWITCH_UNMATCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "tm.h"

#define UNMATCHED_FILLER UINT32_MAX

typedef struct unmatched_entry {
    uint32_t size;            /* of the entry, with its attributes */
    uint32_t attribute_bytes; /* UNMATCHED_FILLER: unused `size` bytes up to the end of the ring */
    uint64_t n;
    uint64_t t_ns;
    uint64_t origin;
    uint64_t number;
    uint32_t connection;
    uint32_t payload_bytes;
} unmatched_entry;

typedef struct unmatched_ring {
    uint8_t *bytes; /* owned; NULL: none are kept */
    uint32_t size;
    uint64_t share;  /* messages whose mix (records.h) is below it are kept; UINT64_MAX: all */
    uint64_t oldest; /* positions count all bytes ever appended; the offset is the position modulo `size` */
    uint64_t end;
    uint64_t n; /* number of the latest entry; numbers continue when the ring is replaced */
} unmatched_ring;

/* true if every entry leads to the next one */
bool switch_unmatched_is_sound(const unmatched_ring *ring);

typedef struct tm_message tm_message; /* message.h */

/* Keep the attributes of a message that entered here and matched no subscription, if it is sampled. Requires
 * `sw->unmatched.bytes`. */
void switch_note_unmatched(tm_switch *sw, const tm_message *message);

#endif
