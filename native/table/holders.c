/* holders.c - see holders.h. */
#include "table/holders.h"

#include "base/grow.h"

#define NO_HANDLE TM_HANDLES_MAX

_Static_assert(TM_INTERFACES_MAX == 1U << 24, "an interface has 24 bits of a row");
_Static_assert(TM_CONSTRAINTS_MAX < 1U << 6, "a number of constraints has six");

void tm_holders_init(tm_holders *holders, tm_memory *memory) {
    *holders = (tm_holders){.memory = memory, .free = NO_HANDLE};
}

static void forget_handles(tm_holders *holders) {
    TM_DELETE(holders->memory, TM_COLD, holders->rows, uint32_t, holders->capacity);
    holders->rows = NULL;
    holders->capacity = 0;
    holders->count = 0;
    holders->free = NO_HANDLE;
}

void tm_holders_free(tm_holders *holders) {
    forget_handles(holders);
    TM_DELETE(holders->memory, TM_COLD, holders->filters, uint32_t, holders->filter_capacity);
    TM_DELETE(holders->memory, TM_HOT, holders->occupied, uint64_t, holders->occupied_capacity);
    TM_DELETE(holders->memory, TM_HOT, holders->clients, uint64_t, holders->client_capacity);
}

/* ---- interfaces ---- */

static bool reserve_interface(tm_holders *holders, uint32_t interface) {
    tm_memory *memory = holders->memory;
    uint32_t words = interface / 64 + 1;
    if (!tm_grow(memory, TM_COLD, &holders->filters, sizeof(uint32_t), &holders->filter_capacity, interface + 1) ||
        !tm_grow(memory, TM_HOT, &holders->occupied, sizeof(uint64_t), &holders->occupied_capacity, words) ||
        !tm_grow(memory, TM_HOT, &holders->clients, sizeof(uint64_t), &holders->client_capacity, words)) {
        return false;
    }
    holders->interface_count = interface < holders->interface_count ? holders->interface_count : interface + 1;
    return true;
}

int tm_holders_set_interface(tm_holders *holders, uint32_t interface, int kind) {
    if (interface >= TM_INTERFACES_MAX || (kind != TM_INTERFACE_LINK && kind != TM_INTERFACE_CLIENT)) {
        return TM_MISUSED;
    }
    if (!reserve_interface(holders, interface)) {
        return TM_NO_MEMORY;
    }
    bool is_client = kind == TM_INTERFACE_CLIENT;
    if (holders->filters[interface] > 0 && tm_holders_is_client(holders, interface) != is_client) {
        return TM_MISUSED;
    }
    uint64_t bit = UINT64_C(1) << (interface % 64);
    uint64_t *word = &holders->clients[interface / 64];
    *word = is_client ? *word | bit : *word & ~bit;
    return TM_OK;
}

static void occupy(tm_holders *holders, uint32_t interface) {
    holders->of_clients += tm_holders_is_client(holders, interface);
    if (holders->filters[interface]++ == 0) {
        holders->occupied[interface / 64] |= UINT64_C(1) << (interface % 64);
        holders->in_use++;
    }
}

static void vacate(tm_holders *holders, uint32_t interface) {
    holders->of_clients -= tm_holders_is_client(holders, interface);
    if (--holders->filters[interface] == 0) {
        holders->occupied[interface / 64] &= ~(UINT64_C(1) << (interface % 64));
        holders->in_use--;
    }
}

/* ---- handles ---- */

int tm_holders_take(tm_holders *holders, uint32_t interface, size_t constraints, uint32_t *handle) {
    bool is_new = holders->free == NO_HANDLE;
    if (is_new && holders->count == TM_HANDLES_MAX) {
        return TM_TOO_MANY;
    }
    if (!reserve_interface(holders, interface) ||
        (is_new && !tm_grow(holders->memory, TM_COLD, &holders->rows, sizeof *holders->rows, &holders->capacity,
                            holders->count + 1))) {
        return TM_NO_MEMORY;
    }
    *handle = is_new ? holders->count++ : holders->free;
    holders->free = is_new ? NO_HANDLE : holders->rows[*handle];
    holders->rows[*handle] = TM_HOLDER_LIVE << 30 | (uint32_t)constraints << 24 | interface;
    holders->live++;
    holders->constraints += constraints;
    occupy(holders, interface);
    return TM_OK;
}

void tm_holders_take_back(tm_holders *holders, uint32_t handle) {
    bool was_last = handle + 1 == holders->count; /* the engine may have had no room for it */
    tm_holders_retire(holders, handle);
    tm_holders_release(holders, handle);
    if (was_last && holders->count > 0) {
        holders->free = holders->rows[handle];
        holders->count--;
    }
}

void tm_holders_retire(tm_holders *holders, uint32_t handle) {
    holders->live--;
    holders->constraints -= tm_holders_constraints(holders, handle);
    holders->rows[handle] = TM_HOLDER_STORED << 30 | tm_holders_interface(holders, handle);
    holders->kept++;
}

void tm_holders_release(tm_holders *holders, uint32_t handle) {
    vacate(holders, tm_holders_interface(holders, handle));
    holders->rows[handle] = holders->free;
    holders->free = handle;
    if (--holders->kept == 0 && holders->live == 0) {
        forget_handles(holders);
    }
}

/* ---- validation ---- */

static int fails(const char **reason, const char *why) {
    *reason = why;
    return TM_MISUSED;
}

static int validate_handles(const tm_holders *holders, const char **reason) {
    uint64_t counted[TM_HOLDER_STORED + 1] = {0};
    uint64_t constraints = 0;
    for (uint32_t handle = 0; handle < holders->count; handle++) {
        uint32_t state = tm_holders_state(holders, handle);
        if (state > TM_HOLDER_STORED) {
            return fails(reason, "a handle is in no state");
        }
        counted[state]++;
        if (state == TM_HOLDER_FREE) {
            continue;
        }
        constraints += tm_holders_constraints(holders, handle);
        if (tm_holders_interface(holders, handle) >= holders->interface_count) {
            return fails(reason, "a filter is of an interface that was never named");
        }
    }
    uint64_t free = 0;
    for (uint32_t handle = holders->free; handle != NO_HANDLE && free <= holders->count; free++) {
        handle = holders->rows[handle];
    }
    return counted[TM_HOLDER_LIVE] == holders->live && counted[TM_HOLDER_STORED] == holders->kept &&
                   counted[TM_HOLDER_FREE] == free && constraints == holders->constraints
               ? TM_OK
               : fails(reason, "a count of handles is wrong");
}

int tm_holders_validate(const tm_holders *holders, const char **reason) {
    uint64_t filters = 0;
    uint64_t of_clients = 0;
    uint32_t in_use = 0;
    for (uint32_t interface = 0; interface < holders->interface_count; interface++) {
        bool is_occupied = holders->occupied[interface / 64] >> (interface % 64) & 1;
        filters += holders->filters[interface];
        of_clients += tm_holders_is_client(holders, interface) ? holders->filters[interface] : 0;
        in_use += is_occupied;
        if (is_occupied != (holders->filters[interface] > 0)) {
            return fails(reason, "the bit of an interface with filters is wrong");
        }
    }
    if (filters != holders->live + holders->kept || in_use != holders->in_use || of_clients != holders->of_clients) {
        return fails(reason, "the interfaces' totals are wrong");
    }
    return validate_handles(holders, reason);
}
