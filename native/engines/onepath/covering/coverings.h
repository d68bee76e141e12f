/* coverings.h - what covers a filter and what it covers.
 *
 * Law: only filters of interfaces that use cells have one (tamis_uses_cells). They stand in pages by handle: a page
 * is there once a filter in it needs it, so that a few such filters among a million of others take little, and no page
 * ever moves.
 */
#ifndef TM_ONEPATH_COVERINGS_H
#define TM_ONEPATH_COVERINGS_H

#include "base/memory.h"

#define TAMIS_COVERINGS_PAGE 512U /* handles of a page: 10 KiB, which an addition may have to clear */

typedef struct tamis_covering {
    uint32_t coverer; /* while covered: by which filter */
    uint32_t covers;  /* head of the list of those it covers, or TAMIS_NONE */
    uint32_t next;    /* in the coverer's list */
    uint32_t previous;
    uint32_t ghost_next; /* of a ghost: the next one */
} tamis_covering;

typedef struct tamis_coverings {
    tm_memory *memory;      /* borrowed */
    tamis_covering **pages; /* owned, and the pages too; NULL: no filter of these handles had one */
    uint32_t capacity;      /* of pages */
} tamis_coverings;

/* Of a handle that there is room for. */
static inline tamis_covering *tamis_covering_at(const tamis_coverings *coverings, uint32_t handle) {
    return &coverings->pages[handle / TAMIS_COVERINGS_PAGE][handle % TAMIS_COVERINGS_PAGE];
}

/* Room for one at the handle; false: no memory, nothing changed. */
bool tamis_coverings_reserve(tamis_coverings *coverings, uint32_t handle);
void tamis_coverings_clear(tamis_coverings *coverings);

/* One that neither covers nor is covered. */
void tamis_covering_begin(tamis_coverings *coverings, uint32_t handle);
/* Into the list of its coverer, and out of it. */
void tamis_covering_hang(tamis_coverings *coverings, uint32_t handle, uint32_t coverer);
void tamis_covering_take_off(tamis_coverings *coverings, uint32_t handle);

#endif
