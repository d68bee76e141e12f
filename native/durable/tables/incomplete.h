/* incomplete.h - messages that a matching durable subscription lacks for want of room, with the subscriptions that have
 * them.
 *
 * Law: a message in this table is not confirmed, and a retry of it goes only to subscriptions that are not in its list.
 * The table takes INCOMPLETE_BYTES_MAX at most; past that it drops the oldest entry and returns its name, so that the
 * caller can treat a retry as a new message, which is not confirmed while a subscription lacks it.
 */
#ifndef TM_DURABLES_INCOMPLETE_H
#define TM_DURABLES_INCOMPLETE_H

#include "base/idset.h"

#ifdef TM_TESTED
#define INCOMPLETE_BYTES_MAX 2000U /* small, so that a test reaches the bound */
#else
#define INCOMPLETE_BYTES_MAX (4U << 20) /* 65,536 messages that no subscription has */
#endif
#define INCOMPLETE_ROW_BYTES 64U /* a row with its share of the set */

typedef struct tm_message_name {
    uint64_t origin;
    uint64_t counter;
} tm_message_name;

typedef struct tm_incomplete {
    tm_message_name name;
    uint32_t *durables; /* owned: numbers of the subscriptions that have the message; NULL: none has */
    uint32_t count;
    uint32_t older; /* in order of entry; of a free row, the next free row */
    uint32_t newer;
    bool is_used;
} tm_incomplete;

typedef struct tm_incompletes {
    tm_memory *memory;   /* borrowed */
    tm_incomplete *rows; /* owned */
    uint32_t high;       /* rows up to here have been used */
    uint32_t capacity;
    uint32_t count; /* of messages */
    uint32_t free;
    uint32_t newest;
    uint32_t oldest;
    uint32_t bytes; /* INCOMPLETE_ROW_BYTES for each row, and the lists */
    tm_idset set;   /* of rows + 1, by name */
} tm_incompletes;

void tm_incompletes_init(tm_incompletes *all, tm_memory *memory);
void tm_incompletes_clear(tm_incompletes *all);
/* Return the entry of a message, borrowed until the next change; NULL: no subscription is known to lack it. */
const tm_incomplete *tm_incompletes_find(const tm_incompletes *all, tm_message_name name);
/* true if a subscription is in the list of those that have the message. */
bool tm_incomplete_has(const tm_incomplete *message, uint32_t durable);
/* Record that a subscription lacks the message and add `durables` to those that have it. false: no memory; nothing has
 * changed. */
bool tm_incompletes_note(tm_incompletes *all, tm_message_name name, const uint32_t *durables, uint32_t count);
/* Remove the entry of a message, if there is one. */
void tm_incompletes_forget(tm_incompletes *all, tm_message_name name);
/* Drop the oldest entry if the table is past its bound; false: it is not. */
bool tm_incompletes_dropped(tm_incompletes *all, tm_message_name *gone);
bool tm_incompletes_are_sound(const tm_incompletes *all);

#endif
