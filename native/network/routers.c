/* routers.c - see routers.h. */
#include "network/routers.h"

#include "base/grow.h"
#include "base/hash.h"
#include "tm.h"

void tm_routers_init(tm_routers *routers, tm_memory *memory) {
    *routers = (tm_routers){.memory = memory, .free = ROUTER_NONE};
}

void tm_routers_clear(tm_routers *routers) {
    TM_DELETE(routers->memory, TM_COLD, routers->rows, tm_router, routers->capacity);
    tm_idset_free(&routers->set, routers->memory, TM_COLD);
    tm_routers_init(routers, routers->memory);
}

static uint64_t hash_of(const void *owner, uint64_t id) {
    const tm_routers *routers = owner;
    return tm_hash_u64(routers->rows[id - 1].number, &routers->memory->key);
}

uint32_t tm_routers_find(const tm_routers *routers, uint64_t number) {
    tm_idset_search at = tm_idset_start(&routers->set, tm_hash_u64(number, &routers->memory->key));
    for (uint32_t id; (id = tm_idset_next(&at)) != 0;) {
        if (routers->rows[id - 1].number == number) {
            return id - 1;
        }
    }
    return ROUTER_NONE;
}

int tm_routers_use(tm_routers *routers, uint64_t number, uint32_t *index) {
    *index = tm_routers_find(routers, number);
    if (*index != ROUTER_NONE || number == 0) {
        return number == 0 ? TM_MISUSED : TM_OK;
    }
    if (routers->live == TM_ROUTERS_MAX) {
        return TM_TOO_MANY;
    }
    bool is_new = routers->free == ROUTER_NONE;
    if (tm_idset_reserve(&routers->set, routers->memory, TM_COLD, hash_of, routers) != TM_OK ||
        (is_new && !tm_grow(routers->memory, TM_COLD, &routers->rows, sizeof *routers->rows, &routers->capacity,
                            routers->count + 1))) {
        return TM_NO_MEMORY;
    }
    *index = is_new ? routers->count++ : routers->free;
    routers->free = is_new ? ROUTER_NONE : routers->rows[*index].filters[ROUTER_WANTS];
    routers->rows[*index] = (tm_router){.number = number,
                                        .filters = {UINT32_MAX, UINT32_MAX},
                                        .neighbour = UINT32_MAX,
                                        .window = UINT32_MAX,
                                        .epoch_max = UINT64_MAX};
    routers->live++;
    tm_idset_insert(&routers->set, tm_hash_u64(number, &routers->memory->key), *index + 1);
    return TM_OK;
}

void tm_routers_release(tm_routers *routers, uint32_t index) {
    tm_idset_remove(&routers->set, hash_of(routers, index + 1), index + 1, hash_of, routers);
    routers->rows[index] = (tm_router){.filters = {routers->free}};
    routers->free = index;
    routers->live--;
}

bool tm_routers_are_sound(const tm_routers *routers) {
    uint32_t live = 0;
    for (uint32_t index = 0; index < routers->count; index++) {
        uint64_t number = routers->rows[index].number;
        live += number != 0;
        if (number != 0 && tm_routers_find(routers, number) != index) {
            return false;
        }
    }
    return live == routers->live && live == routers->set.count;
}
