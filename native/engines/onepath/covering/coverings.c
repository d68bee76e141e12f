/* coverings.c - see coverings.h. */
#include "engines/onepath/covering/coverings.h"

#include "base/grow.h"
#include "engines/onepath/values/tests.h"

bool tamis_coverings_reserve(tamis_coverings *coverings, uint32_t handle) {
    uint32_t page = handle / TAMIS_COVERINGS_PAGE;
    if (!tm_grow(coverings->memory, TM_COLD, &coverings->pages, sizeof *coverings->pages, &coverings->capacity,
                 page + 1)) {
        return false;
    }
    if (coverings->pages[page] == NULL) {
        coverings->pages[page] = TM_NEW(coverings->memory, TM_COLD, tamis_covering, TAMIS_COVERINGS_PAGE);
    }
    return coverings->pages[page] != NULL;
}

void tamis_coverings_clear(tamis_coverings *coverings) {
    for (uint32_t page = 0; page < coverings->capacity; page++) {
        TM_DELETE(coverings->memory, TM_COLD, coverings->pages[page], tamis_covering, TAMIS_COVERINGS_PAGE);
    }
    TM_DELETE(coverings->memory, TM_COLD, coverings->pages, tamis_covering *, coverings->capacity);
    *coverings = (tamis_coverings){.memory = coverings->memory};
}

void tamis_covering_begin(tamis_coverings *coverings, uint32_t handle) {
    *tamis_covering_at(coverings, handle) =
        (tamis_covering){TAMIS_NONE, TAMIS_NONE, TAMIS_NONE, TAMIS_NONE, TAMIS_NONE};
}

void tamis_covering_hang(tamis_coverings *coverings, uint32_t handle, uint32_t coverer) {
    tamis_covering *covering = tamis_covering_at(coverings, handle);
    tamis_covering *above = tamis_covering_at(coverings, coverer);
    covering->coverer = coverer;
    covering->previous = TAMIS_NONE;
    covering->next = above->covers;
    if (above->covers != TAMIS_NONE) {
        tamis_covering_at(coverings, above->covers)->previous = handle;
    }
    above->covers = handle;
}

void tamis_covering_take_off(tamis_coverings *coverings, uint32_t handle) {
    tamis_covering *covering = tamis_covering_at(coverings, handle);
    if (covering->previous != TAMIS_NONE) {
        tamis_covering_at(coverings, covering->previous)->next = covering->next;
    } else {
        tamis_covering_at(coverings, covering->coverer)->covers = covering->next;
    }
    if (covering->next != TAMIS_NONE) {
        tamis_covering_at(coverings, covering->next)->previous = covering->previous;
    }
    covering->coverer = TAMIS_NONE;
    covering->next = TAMIS_NONE;
    covering->previous = TAMIS_NONE;
}
