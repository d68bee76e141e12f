/* holders.h - the filters of a table, by handle, and the counts of each interface.
 *
 * Law: the table assigns handles and knows for each its interface and its number of constraints; an engine keeps
 * neither count nor kind of its own. A handle is free, live, or *kept*: removed, but not yet released by its engine,
 * which still needs it. An interface counts its live and its kept filters. Free handles are reused, the last one first;
 * when no filter is left the handles begin at 0 again.
 */
#ifndef TM_HOLDERS_H
#define TM_HOLDERS_H

#include "base/memory.h"
#include "tm.h"

#define TM_HANDLES_MAX 0x3fffffffU /* beyond it an add returns TM_TOO_MANY */

typedef struct tm_holders {
    tm_memory *memory;    /* borrowed */
    uint32_t *rows;       /* owned; by handle, in the format of a row */
    uint32_t capacity;    /* of rows */
    uint32_t count;       /* above every handle */
    uint32_t free;        /* the next handle to reuse, or TM_HANDLES_MAX */
    uint32_t kept;        /* removed and not released */
    uint64_t live;        /* filters */
    uint64_t of_clients;  /* filters of client interfaces, live and kept */
    uint64_t constraints; /* of the live ones */
    uint32_t *filters;    /* owned; by interface: number of live and kept filters */
    uint64_t *occupied;   /* owned bitset of interfaces with filters */
    uint64_t *clients;    /* owned bitset of interfaces that are clients */
    uint32_t filter_capacity;
    uint32_t occupied_capacity; /* in words */
    uint32_t client_capacity;
    uint32_t interface_count; /* above every interface ever used */
    uint32_t in_use;          /* interfaces with filters */
} tm_holders;

/* A row: its state, constraints (6 bits) and interface (24); a free one has the next free handle. */
#define TM_HOLDER_FREE 0U
#define TM_HOLDER_LIVE 1U
#define TM_HOLDER_STORED 2U

void tm_holders_init(tm_holders *holders, tm_memory *memory);
void tm_holders_free(tm_holders *holders);

/* Set the kind of an interface. TM_MISUSED: no such interface or kind, or it has filters of the other kind. */
int tm_holders_set_interface(tm_holders *holders, uint32_t interface, int kind);

/* Prefetch the memory in which a filter of the interface will be noted. */
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
/* Assign a handle to a filter of `interface`, live from here on. TM_NO_MEMORY, TM_TOO_MANY: nothing has changed. */
int tm_holders_take(tm_holders *holders, uint32_t interface, size_t constraints, uint32_t *handle);
/* Undo the last tm_holders_take, because the engine refused the filter. */
void tm_holders_take_back(tm_holders *holders, uint32_t handle);
/* Note that a live filter is removed: its handle is kept until it is released. */
void tm_holders_retire(tm_holders *holders, uint32_t handle);
/* Release the handle of a removed filter that the engine no longer needs, for reuse. */
void tm_holders_release(tm_holders *holders, uint32_t handle);

static inline uint32_t tm_holders_state(const tm_holders *holders, uint32_t handle) {
    return handle < holders->count ? holders->rows[handle] >> 30 : TM_HOLDER_FREE;
}
static inline bool tm_holders_is_live(const tm_holders *holders, uint32_t handle) {
    return tm_holders_state(holders, handle) == TM_HOLDER_LIVE;
}
/* Return the number of handles that are not free. */
static inline uint64_t tm_holders_used(const tm_holders *holders) {
    return holders->live + holders->kept;
}
/* Return fields of a handle that is not free. */
static inline uint32_t tm_holders_interface(const tm_holders *holders, uint32_t handle) {
    return holders->rows[handle] & 0xffffff;
}
static inline uint32_t tm_holders_constraints(const tm_holders *holders, uint32_t handle) {
    return holders->rows[handle] >> 24 & 0x3f;
}
/* Return fields of an interface below interface_count. */
static inline uint32_t tm_holders_filters(const tm_holders *holders, uint32_t interface) {
    return holders->filters[interface];
}
static inline bool tm_holders_is_client(const tm_holders *holders, uint32_t interface) {
    return holders->clients[interface / 64] >> (interface % 64) & 1;
}

int tm_holders_validate(const tm_holders *holders, const char **reason);

#endif
