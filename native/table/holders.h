/* holders.h - the filters that a table holds, by handle, and what stands behind each interface.
 *
 * Law: the table gives out handles and knows of each its interface and how many constraints the filter has; an engine
 * keeps neither count nor kind of its own. A handle is free, live, or *kept*: removed, but its engine still needs it
 * for a while and has not released it. An interface counts its live and its kept filters. A free handle is given out
 * again, the last one first; with the last filter the handles begin at 0 again.
 */
#ifndef TM_HOLDERS_H
#define TM_HOLDERS_H

#include "base/memory.h"
#include "tm.h"

#define TM_HANDLES_MAX 0x3fffffffU /* an add past it answers TM_TOO_MANY */

typedef struct tm_holders {
    tm_memory *memory;    /* borrowed */
    uint32_t *rows;       /* owned; by handle: see below */
    uint32_t capacity;    /* of rows */
    uint32_t count;       /* handles are below it */
    uint32_t free;        /* the next one to be given out, or TM_HANDLES_MAX */
    uint32_t kept;        /* removed and not released */
    uint64_t live;        /* filters */
    uint64_t of_clients;  /* filters of interfaces that are clients, the kept ones included */
    uint64_t constraints; /* of the live ones */
    uint32_t *filters;    /* owned; by interface: how many it has, the kept ones included */
    uint64_t *occupied;   /* owned bitset over interfaces: has filters */
    uint64_t *clients;    /* owned bitset over interfaces: is a client */
    uint32_t filter_capacity;
    uint32_t occupied_capacity; /* in words, as the next one */
    uint32_t client_capacity;
    uint32_t interface_count; /* interfaces that were ever named are below it */
    uint32_t in_use;          /* interfaces with filters */
} tm_holders;

/* A row: its state, constraints (6 bits) and interface (24); of a free one the next free handle. */
#define TM_HOLDER_FREE 0U
#define TM_HOLDER_LIVE 1U
#define TM_HOLDER_KEPT 2U

void tm_holders_init(tm_holders *holders, tm_memory *memory);
void tm_holders_free(tm_holders *holders);

/* TM_MISUSED: no such interface or kind, or it is of the other kind and has filters. */
int tm_holders_set_interface(tm_holders *holders, uint32_t interface, int kind);

/* Ask for the memory that a filter of the interface will be noted in. */
static inline void tm_holders_ask(const tm_holders *holders, uint32_t interface) {
    if (interface < holders->interface_count) {
        __builtin_prefetch(&holders->filters[interface], 1);
        __builtin_prefetch(&holders->occupied[interface / 64], 1);
        __builtin_prefetch(&holders->clients[interface / 64]);
    }
    if (holders->free < holders->count) {
        __builtin_prefetch(&holders->rows[holders->free], 1);
    }
}
/* A handle for a filter of `interface`, live from here on. TM_NO_MEMORY, TM_TOO_MANY: nothing has changed. */
int tm_holders_take(tm_holders *holders, uint32_t interface, size_t constraints, uint32_t *handle);
/* The engine has refused the filter whose handle was taken last: all is as it was. */
void tm_holders_take_back(tm_holders *holders, uint32_t handle);
/* A live filter is removed: its handle is kept until it is released. */
void tm_holders_retire(tm_holders *holders, uint32_t handle);
/* For engines: nothing of a removed filter is left, so that its handle may be given out again. */
void tm_holders_release(tm_holders *holders, uint32_t handle);

static inline uint32_t tm_holders_state(const tm_holders *holders, uint32_t handle) {
    return handle < holders->count ? holders->rows[handle] >> 30 : TM_HOLDER_FREE;
}
static inline bool tm_holders_is_live(const tm_holders *holders, uint32_t handle) {
    return tm_holders_state(holders, handle) == TM_HOLDER_LIVE;
}
/* Handles that are not free. */
static inline uint64_t tm_holders_used(const tm_holders *holders) {
    return holders->live + holders->kept;
}
/* Of a handle that is not free, as the next one. */
static inline uint32_t tm_holders_interface(const tm_holders *holders, uint32_t handle) {
    return holders->rows[handle] & 0xffffff;
}
static inline uint32_t tm_holders_constraints(const tm_holders *holders, uint32_t handle) {
    return holders->rows[handle] >> 24 & 0x3f;
}
/* Of an interface below interface_count, as the next one. */
static inline uint32_t tm_holders_filters(const tm_holders *holders, uint32_t interface) {
    return holders->filters[interface];
}
static inline bool tm_holders_is_client(const tm_holders *holders, uint32_t interface) {
    return holders->clients[interface / 64] >> (interface % 64) & 1;
}

int tm_holders_validate(const tm_holders *holders, const char **reason);

#endif
