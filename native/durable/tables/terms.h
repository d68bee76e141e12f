/* terms.h - the terms of keeps, each value once: few programs ask for terms of their own.
 *
 * Law: terms do not change, and stay where they are for as long as a keep has them.
 */
#ifndef TM_KEEPS_TERMS_H
#define TM_KEEPS_TERMS_H

#include "base/memory.h"
#include "tm.h"
#include "tm_keeps.h"

#define TERMS_BUCKETS 256U

typedef struct tm_shared_terms {
    tm_keep_terms terms; /* first: what keeps point to; its names stand behind the row */
    struct tm_shared_terms *next;
    uint64_t hash;
    uint32_t keeps;
} tm_shared_terms;

typedef struct tm_all_terms {
    tm_memory *memory;                       /* borrowed */
    tm_shared_terms *buckets[TERMS_BUCKETS]; /* owned: lists, by hash */
} tm_all_terms;

/* What is equal to `terms`, for one keep more, with names of its own; NULL: no memory. Borrowed until it is dropped. */
const tm_keep_terms *tm_terms_take(tm_all_terms *all, const tm_keep_terms *terms);
/* One keep less has what tm_terms_take has given; NULL is allowed. */
void tm_terms_drop(tm_all_terms *all, const tm_keep_terms *terms);

#endif
