/* keys.h - R13, lookup reuse of paper 001: a copy carries keys of filters behind its link that match the message.
 *
 * Law: keys are written or accepted only while the network table is the one that the digest describes (reuse.h), and
 * the routes are those of one generation. The keys of a copy are those of its link, at most `keys_max`; they are
 * complete if no other filter behind it matches.
 */
#ifndef TM_SWITCH_FORWARDING_KEYS_H
#define TM_SWITCH_FORWARDING_KEYS_H

#include "model/wire.h"
#include "network/filter_keys.h"

/* A matching filter behind a link. */
typedef struct tm_key_row {
    uint32_t link;
    uint32_t key;
} tm_key_row;

typedef struct tm_link_keys {
    tm_filter_keys filters; /* of the network table, for TM_FORWARD_KEYS */
    uint32_t keys_max;
    /* buffers for one message; owned */
    uint32_t *links; /* rows of a match */
    uint32_t *handles;
    uint32_t *counts; /* by link: filters found by the match */
    uint32_t *ends;   /* by link: end of its keys in `sorted`, from behind the one before */
    tm_key_row *rows;
    uint32_t *sorted; /* keys of all rows, by link */
    uint32_t link_capacity;
    uint32_t handle_capacity;
    uint32_t count_capacity;
    uint32_t end_capacity;
    uint32_t row_capacity;
    uint32_t sorted_capacity;
    uint8_t route[WIRE_KEYS_AT + 4 * WIRE_KEYS_MAX];
} tm_link_keys;

typedef struct tm_message tm_message; /* message.h */

void switch_keys_free(tm_link_keys *keys, tm_memory *memory);

/* Like switch_depart, but copies carry keys, and links with a key of an upstream router are not matched. */
int switch_forward_by_keys(tm_switch *sw, const tm_message *message, uint32_t key, uint32_t came_from,
                           uint32_t *behind);

#endif
