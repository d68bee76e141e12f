/* incomplete.h - messages that a keep which wants them lacks, as it had no room: which keeps have each of them.
 *
 * Law: a message that is known here is not confirmed, and a second try of it goes to keeps that are not in its list
 * alone. All of them take INCOMPLETE_BYTES_MAX at most; past that the one noted longest ago is forgotten, and the
 * caller is told which, so that a second try of it is taken for a new message and never confirmed where a keep lacks
 * it.
 */
#ifndef TM_KEEPS_INCOMPLETE_H
#define TM_KEEPS_INCOMPLETE_H

#include "base/idset.h"

#ifdef TM_TESTED
#define INCOMPLETE_BYTES_MAX 2000U /* few, so that a test comes to the bound */
#else
#define INCOMPLETE_BYTES_MAX (4U << 20) /* 65,536 messages that no keep has */
#endif
#define INCOMPLETE_ROW_BYTES 64U /* of a row with its share of the set */

typedef struct tm_message_name {
    uint64_t origin;
    uint64_t counter;
} tm_message_name;

typedef struct tm_incomplete {
    tm_message_name name;
    uint32_t *keeps; /* owned: numbers of the keeps that have it; NULL: none has */
    uint32_t count;
    uint32_t older; /* in order of being noted; of a free row, the next free one */
    uint32_t newer;
    bool is_used;
} tm_incomplete;

typedef struct tm_incompletes {
    tm_memory *memory;   /* borrowed */
    tm_incomplete *rows; /* owned */
    uint32_t high;       /* rows up to here were used */
    uint32_t capacity;
    uint32_t count; /* of messages */
    uint32_t free;
    uint32_t newest;
    uint32_t oldest;
    uint32_t bytes; /* by INCOMPLETE_ROW_BYTES, and the lists */
    tm_idset set;   /* of rows + 1, by name */
} tm_incompletes;

void tm_incompletes_init(tm_incompletes *all, tm_memory *memory);
void tm_incompletes_clear(tm_incompletes *all);
/* NULL: no keep is known to lack it. Borrowed until the next call that changes something. */
const tm_incomplete *tm_incompletes_find(const tm_incompletes *all, tm_message_name name);
bool tm_incomplete_has(const tm_incomplete *message, uint32_t keep);
/* A keep lacks the message, and these have it, beside those that did before. false: no memory; nothing has changed. */
bool tm_incompletes_note(tm_incompletes *all, tm_message_name name, const uint32_t *keeps, uint32_t count);
/* No keep lacks it, if it was known. */
void tm_incompletes_forget(tm_incompletes *all, tm_message_name name);
/* Forget the oldest one where all take more than they may; false: they do not. */
bool tm_incompletes_dropped(tm_incompletes *all, tm_message_name *gone);
bool tm_incompletes_are_sound(const tm_incompletes *all);

#endif
