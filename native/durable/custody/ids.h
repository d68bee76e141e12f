/* ids.h - ids of messages that entered at other routers and are stored here (C11).
 *
 * Law: the last CUSTODY_IDS_MAX ids are known. One that is forgotten may be stored a second time.
 */
#ifndef TM_DURABLE_CUSTODY_IDS_H
#define TM_DURABLE_CUSTODY_IDS_H

#include "base/idset.h"

#ifdef TM_TESTED
#define CUSTODY_IDS_MAX 128U /* small, so that a test reaches the bound */
#else
#define CUSTODY_IDS_MAX (1U << 20) /* 16 MiB, and 16 MiB of the set */
#endif

typedef struct tm_custody_id {
    uint64_t origin;
    uint64_t counter;
} tm_custody_id;

typedef struct tm_custody_ids {
    tm_memory *memory;   /* borrowed */
    tm_custody_id *rows; /* owned: a ring once there are CUSTODY_IDS_MAX */
    uint32_t count;
    uint32_t capacity;
    uint32_t next; /* row of the next id */
    tm_idset set;  /* of words: half of the hash, and row + 1 */
} tm_custody_ids;

bool tm_custody_ids_has(const tm_custody_ids *ids, uint64_t origin, uint64_t counter);
/* Make room for one more id. false: no memory. */
bool tm_custody_ids_reserve(tm_custody_ids *ids);
/* Note an id that is not known, in place of the oldest one at the bound. Without room for it, it stays unknown. */
void tm_custody_ids_note(tm_custody_ids *ids, uint64_t origin, uint64_t counter);
void tm_custody_ids_free(tm_custody_ids *ids);
bool tm_custody_ids_are_sound(const tm_custody_ids *ids);

#endif
