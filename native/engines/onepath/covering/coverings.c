/* coverings.c - pages of coverings, and the lists in them. Law: as in coverings.h. */
#include "engines/onepath/covering/coverings.h"

#include "base/grow.h"
#include "engines/onepath/values/tests.h"

bool onepath_coverings_reserve(onepath_coverings *coverings, uint32_t handle) {
    uint32_t page = handle / ONEPATH_COVERINGS_PAGE;
    if (!tm_grow(coverings->memory, TM_COLD, &coverings->pages, sizeof *coverings->pages, &coverings->capacity,
                 page + 1)) {
        return false;
    }
    if (coverings->pages[page] == NULL) {
        coverings->pages[page] = TM_NEW(coverings->memory, TM_COLD, onepath_covering, ONEPATH_COVERINGS_PAGE);
    }
    return coverings->pages[page] != NULL;
}

void onepath_coverings_clear(onepath_coverings *coverings) {
    for (uint32_t page = 0; page < coverings->capacity; page++) {
        TM_DELETE(coverings->memory, TM_COLD, coverings->pages[page], onepath_covering, ONEPATH_COVERINGS_PAGE);
    }
    TM_DELETE(coverings->memory, TM_COLD, coverings->pages, onepath_covering *, coverings->capacity);
    *coverings = (onepath_coverings){.memory = coverings->memory};
}

void onepath_covering_begin(onepath_coverings *coverings, uint32_t handle) {
    *onepath_covering_at(coverings, handle) =
        (onepath_covering){ONEPATH_NONE, ONEPATH_NONE, ONEPATH_NONE, ONEPATH_NONE, ONEPATH_NONE};
}

void onepath_covering_hang(onepath_coverings *coverings, uint32_t handle, uint32_t coverer) {
    onepath_covering *covering = onepath_covering_at(coverings, handle);
    onepath_covering *above = onepath_covering_at(coverings, coverer);
    covering->coverer = coverer;
    covering->previous = ONEPATH_NONE;
    covering->next = above->covers;
    if (above->covers != ONEPATH_NONE) {
        onepath_covering_at(coverings, above->covers)->previous = handle;
    }
    above->covers = handle;
}

void onepath_covering_take_off(onepath_coverings *coverings, uint32_t handle) {
    onepath_covering *covering = onepath_covering_at(coverings, handle);
    if (covering->previous != ONEPATH_NONE) {
        onepath_covering_at(coverings, covering->previous)->next = covering->next;
    } else {
        onepath_covering_at(coverings, covering->coverer)->covers = covering->next;
    }
    if (covering->next != ONEPATH_NONE) {
        onepath_covering_at(coverings, covering->next)->previous = covering->previous;
    }
    covering->coverer = ONEPATH_NONE;
    covering->next = ONEPATH_NONE;
    covering->previous = ONEPATH_NONE;
}
