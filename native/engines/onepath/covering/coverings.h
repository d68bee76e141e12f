/* coverings.h - what covers a filter and what it covers.
 *
 * Law: only filters of interfaces that use cells have a covering (onepath_uses_cells). Coverings are in pages by
 * handle: a page exists once a filter in it needs it, so that a few such filters among a million others take little
 * memory, and no page ever moves.
 */
#ifndef TM_ONEPATH_COVERINGS_H
#define TM_ONEPATH_COVERINGS_H

#include "base/memory.h"

#define ONEPATH_COVERINGS_PAGE 512U /* handles of a page: 10 KiB, which one addition may have to clear */

typedef struct onepath_covering {
    uint32_t coverer; /* while covered: the filter that covers it */
    uint32_t covers;  /* first of the list of those it covers, or ONEPATH_NONE */
    uint32_t next;    /* in the coverer's list */
    uint32_t previous;
    uint32_t tombstone_next; /* of a tombstone: the next one */
} onepath_covering;

typedef struct onepath_coverings {
    tm_memory *memory;        /* borrowed */
    onepath_covering **pages; /* owned, and the pages, too; NULL: no filter of these handles needed one */
    uint32_t capacity;        /* of pages */
} onepath_coverings;

/* Return the covering of a handle; there must be room for it. */
static inline onepath_covering *onepath_covering_at(const onepath_coverings *coverings, uint32_t handle) {
    return &coverings->pages[handle / ONEPATH_COVERINGS_PAGE][handle % ONEPATH_COVERINGS_PAGE];
}

/* Reserve the covering of a handle; false if out of memory, then nothing changed. */
bool onepath_coverings_reserve(onepath_coverings *coverings, uint32_t handle);
void onepath_coverings_clear(onepath_coverings *coverings);

/* Initialise a covering that neither covers nor is covered. */
void onepath_covering_begin(onepath_coverings *coverings, uint32_t handle);
/* Insert a filter in the list of its coverer, and remove it. */
void onepath_covering_hang(onepath_coverings *coverings, uint32_t handle, uint32_t coverer);
void onepath_covering_take_off(onepath_coverings *coverings, uint32_t handle);

#endif
