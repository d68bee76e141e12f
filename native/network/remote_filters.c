/* remote_filters.c - see remote_filters.h. */
#include "network/remote_filters.h"

#include <string.h>

#include "base/grow.h"
#include "base/hash.h"

void tm_network_init(tm_network *network, tm_memory *memory, tm_table *table, tm_routers *routers, unsigned which) {
    *network = (tm_network){.memory = memory, .table = table, .routers = routers, .which = which, .is_packed = true};
}

/* ---- packed filters, while they are few ---- */

static void drop_packed(tm_network *network, uint32_t at) {
    TM_DELETE(network->memory, TM_COLD, network->packed[at].bytes, uint8_t, network->packed[at].size);
    network->packed[at] = network->packed[--network->packed_count];
}

static void drop_all_packed(tm_network *network) {
    while (network->packed_count > 0) {
        drop_packed(network, 0);
    }
}

/* Keep a packed filter; without memory drop all of them, like above the limit. */
static void keep_packed(tm_network *network, uint32_t handle, const uint8_t *bytes, size_t size) {
    network->version++;
    if (!network->is_packed) {
        return;
    }
    uint8_t *copy = NULL;
    if (network->packed_count < NETWORK_PACKED_MAX) {
        copy = TM_NEW(network->memory, TM_COLD, uint8_t, size);
    }
    if (copy == NULL) {
        drop_all_packed(network);
        network->is_packed = false;
        return;
    }
    memcpy(copy, bytes, size);
    network->packed[network->packed_count++] = (tm_packed_filter){handle, (uint32_t)size, copy};
}

static void forget_packed(tm_network *network, uint32_t handle) {
    network->version++;
    for (uint32_t at = 0; at < network->packed_count; at++) {
        if (network->packed[at].handle == handle) {
            drop_packed(network, at);
            break;
        }
    }
    network->is_packed |= network->count == 0;
}

void tm_network_clear(tm_network *network) {
    drop_all_packed(network);
    TM_DELETE(network->memory, TM_COLD, network->filters, tm_remote_filter, network->capacity);
    tm_idset_free(&network->set, network->memory, TM_COLD);
    tm_network_init(network, network->memory, network->table, network->routers, network->which);
}

/* ---- the set ---- */

static uint64_t hash_pair(const tm_network *network, uint32_t router, uint64_t id) {
    return tm_hash_words(id, router, 0, &network->memory->key);
}

static uint64_t hash_of(const void *owner, uint64_t entry) {
    const tm_network *network = owner;
    const tm_remote_filter *filter = &network->filters[entry - 1];
    return hash_pair(network, filter->router, filter->id);
}

uint32_t tm_network_find(const tm_network *network, uint32_t router, uint64_t id) {
    tm_idset_search at = tm_idset_start(&network->set, hash_pair(network, router, id));
    for (uint32_t entry; (entry = tm_idset_next(&at)) != 0;) {
        const tm_remote_filter *filter = &network->filters[entry - 1];
        if (filter->router == router && filter->id == id) {
            return entry - 1;
        }
    }
    return FILTER_NONE;
}

static bool reserve(tm_network *network, uint32_t handle) {
    if (!tm_grow(network->memory, TM_COLD, &network->filters, sizeof *network->filters, &network->capacity,
                 handle + 1)) {
        return false;
    }
    for (; network->used <= handle; network->used++) {
        network->filters[network->used].router = ROUTER_NONE;
    }
    return true;
}

/* ---- filters ---- */

int tm_network_install(tm_network *network, uint32_t router, uint64_t id, const uint8_t *packed, size_t size) {
    if (tm_network_find(network, router, id) != FILTER_NONE) {
        return TM_MISUSED;
    }
    if (tm_idset_reserve(&network->set, network->memory, TM_COLD, hash_of, network) != TM_OK) {
        return TM_NO_MEMORY;
    }
    uint32_t handle;
    int result = tm_table_add(network->table, packed, size, router, &handle);
    bool has_room = result == TM_OK && reserve(network, handle) &&
                    (network->keys == NULL || tm_filter_keys_reserve(network->keys, handle) == TM_OK);
    if (result == TM_OK && !has_room) {
        tm_table_remove(network->table, handle);
        result = TM_NO_MEMORY;
    }
    if (result != TM_OK) {
        return result;
    }
    tm_router *owner = &network->routers->rows[router];
    bool is_everything = size == 1; /* an empty array, since any constraint takes more bytes */
    network->filters[handle] = (tm_remote_filter){.id = id,
                                                  .router = router,
                                                  .next = owner->filters[network->which],
                                                  .previous = FILTER_NONE,
                                                  .is_everything = is_everything};
    network->everything_count += is_everything;
    if (owner->filters[network->which] != FILTER_NONE) {
        network->filters[owner->filters[network->which]].previous = handle;
    }
    owner->filters[network->which] = handle;
    owner->filter_count[network->which]++;
    network->count++;
    tm_idset_insert(&network->set, hash_pair(network, router, id), handle + 1);
    if (network->keys != NULL) {
        tm_filter_keys_add(network->keys, handle, tm_filter_key(owner->number, id));
    }
    keep_packed(network, handle, packed, size);
    return TM_OK;
}

static void uninstall(tm_network *network, uint32_t handle) {
    tm_remote_filter *filter = &network->filters[handle];
    tm_router *owner = &network->routers->rows[filter->router];
    tm_table_remove(network->table, handle);
    tm_idset_remove(&network->set, hash_of(network, handle + 1), handle + 1, hash_of, network);
    if (network->keys != NULL) {
        tm_filter_keys_remove(network->keys, handle);
    }
    if (filter->previous != FILTER_NONE) {
        network->filters[filter->previous].next = filter->next;
    } else {
        owner->filters[network->which] = filter->next;
    }
    if (filter->next != FILTER_NONE) {
        network->filters[filter->next].previous = filter->previous;
    }
    network->everything_count -= filter->is_everything;
    *filter = (tm_remote_filter){.router = ROUTER_NONE};
    owner->filter_count[network->which]--;
    network->count--;
    forget_packed(network, handle);
}

int tm_network_uninstall(tm_network *network, uint32_t router, uint64_t id) {
    uint32_t handle = tm_network_find(network, router, id);
    if (handle == FILTER_NONE) {
        return TM_ABSENT;
    }
    uninstall(network, handle);
    return TM_OK;
}

void tm_network_forget(tm_network *network, uint32_t router, uint32_t steps) {
    const tm_router *owner = &network->routers->rows[router];
    for (; steps > 0 && owner->filters[network->which] != FILTER_NONE; steps--) {
        uninstall(network, owner->filters[network->which]);
    }
}

/* true if a filter is found by its key, unless others share it */
static bool has_its_key(const tm_network *network, uint32_t handle) {
    const tm_remote_filter *filter = &network->filters[handle];
    uint32_t key = tm_filter_key(network->routers->rows[filter->router].number, filter->id);
    uint32_t found = tm_filter_keys_find(network->keys, key);
    return network->keys->keys[handle] == key &&
           (found == handle || (found == FILTER_KEY_SHARED && network->keys->surplus > 0));
}

bool tm_network_is_sound(const tm_network *network) {
    uint32_t count = 0;
    uint32_t everything = 0;
    for (uint32_t router = 0; router < network->routers->count; router++) {
        const tm_router *owner = &network->routers->rows[router];
        uint32_t own = 0;
        for (uint32_t at = owner->number == 0 ? FILTER_NONE : owner->filters[network->which]; at != FILTER_NONE;
             at = network->filters[at].next) {
            const tm_remote_filter *filter = &network->filters[at];
            if (++own > owner->filter_count[network->which] || filter->router != router ||
                tm_network_find(network, router, filter->id) != at ||
                (network->keys != NULL && !has_its_key(network, at))) {
                return false;
            }
            everything += filter->is_everything;
        }
        count += own;
        if (own != owner->filter_count[network->which]) {
            return false;
        }
    }
    if (network->keys != NULL && !tm_filter_keys_are_sound(network->keys, count)) {
        return false;
    }
    return count == network->count && everything == network->everything_count && count == network->set.count &&
           network->packed_count == (network->is_packed ? count : 0) && (network->is_packed || count > 0);
}
