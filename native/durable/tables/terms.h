/* terms.h - policies of durable subscriptions, each value stored once, as few programs choose their own.
 *
 * Law: a policy does not change or move while a subscription has it.
 */
#ifndef TM_KEEPS_TERMS_H
#define TM_KEEPS_TERMS_H

#include "base/memory.h"
#include "tm.h"
#include "tm_keeps.h"

#define TERMS_BUCKETS 256U

typedef struct tm_shared_terms {
    tm_keep_terms terms; /* first, as subscriptions point to it; its names follow the row */
    struct tm_shared_terms *next;
    uint64_t hash;
    uint32_t keeps;
} tm_shared_terms;

typedef struct tm_all_terms {
    tm_memory *memory;                       /* borrowed */
    tm_shared_terms *buckets[TERMS_BUCKETS]; /* owned: lists, by hash */
} tm_all_terms;

/* Return the shared policy that equals `terms`, with its own copy of the names, and count one more user. NULL: no
 * memory. Borrowed until tm_terms_drop. */
const tm_keep_terms *tm_terms_take(tm_all_terms *all, const tm_keep_terms *terms);
/* Drop one use of a policy that tm_terms_take returned; NULL is allowed. */
void tm_terms_drop(tm_all_terms *all, const tm_keep_terms *terms);

#endif
