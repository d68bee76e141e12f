/* next_hops.c - see next_hops.h. */
#include "network/next_hops.h"

#include <string.h>

#include "base/bits.h"
#include "base/grow.h"

void tm_next_hops_init(tm_next_hops_store *store, tm_memory *memory, tm_table *table) {
    *store = (tm_next_hops_store){.memory = memory, .table = table};
}

/* One word more, so that a block without next hops has memory, too. */
static uint32_t child_words(uint32_t neighbour_count) {
    return 1 + tm_bit_words(neighbour_count);
}

static void clear(tm_next_hops_store *store, tm_next_hops *next_hops) {
    if (next_hops->view != 0) {
        tm_table_drop_view(store->table, next_hops->view);
    }
    TM_DELETE(store->memory, TM_COLD, next_hops->children, uint64_t, child_words(next_hops->neighbour_count));
    TM_DELETE(store->memory, TM_COLD, next_hops->asking, uint64_t, child_words(next_hops->neighbour_count));
    TM_DELETE(store->memory, TM_COLD, next_hops->reach, uint64_t, next_hops->reach_size);
    *next_hops = (tm_next_hops){0};
}

void tm_next_hops_free(tm_next_hops_store *store) {
    for (uint32_t row = 0; row < store->used; row++) {
        if (store->rows[row].children != NULL) {
            clear(store, &store->rows[row]);
        }
    }
    TM_DELETE(store->memory, TM_COLD, store->rows, tm_next_hops, store->capacity);
    tm_idset_free(&store->set, store->memory, TM_COLD);
    tm_next_hops_init(store, store->memory, store->table);
}

/* ---- the set ---- */

static uint64_t hash_next_hops(const tm_next_hops_store *store, const uint32_t *next_hops, uint32_t count) {
    return tm_hash_text((const uint8_t *)next_hops, sizeof *next_hops * (size_t)count, &store->memory->key);
}

static uint64_t hash_of(const void *owner, uint64_t id) {
    const tm_next_hops_store *store = owner;
    const tm_next_hops *next_hops = &store->rows[id - 1];
    return hash_next_hops(store, next_hops->by_router, next_hops->count);
}

static uint32_t find(const tm_next_hops_store *store, uint64_t hash, const uint32_t *next_hops, uint32_t count) {
    tm_idset_search at = tm_idset_start(&store->set, hash);
    for (uint32_t id; (id = tm_idset_next(&at)) != NEXT_HOPS_NONE;) {
        const tm_next_hops *held = &store->rows[id - 1];
        if (held->count == count &&
            (count == 0 || memcmp(held->by_router, next_hops, sizeof *next_hops * count) == 0)) {
            return id;
        }
    }
    return NEXT_HOPS_NONE;
}

/* ---- blocks ---- */

static bool make(tm_next_hops_store *store, const uint32_t *next_hops, uint32_t count, tm_next_hops *made) {
    *made = (tm_next_hops){.holders = 1};
    for (uint32_t router = 0; router < count; router++) {
        if (next_hops[router] != NEXT_HOP_NONE && next_hops[router] >= made->neighbour_count) {
            made->neighbour_count = next_hops[router] + 1;
        }
    }
    made->children = TM_NEW(store->memory, TM_COLD, uint64_t, child_words(made->neighbour_count));
    if (made->children == NULL || (count > 0 && tm_table_view(store->table, next_hops, count, &made->view) != TM_OK)) {
        clear(store, made);
        return false;
    }
    made->by_router = tm_table_view_groups(store->table, made->view, &made->count);
    for (uint32_t router = 0; router < count; router++) {
        if (next_hops[router] != NEXT_HOP_NONE) {
            tm_bit_set(made->children, next_hops[router]);
        }
    }
    return true;
}

uint32_t tm_next_hops_take(tm_next_hops_store *store, const uint32_t *next_hops, uint32_t count) {
    while (count > 0 && next_hops[count - 1] == NEXT_HOP_NONE) {
        count--;
    }
    uint64_t hash = hash_next_hops(store, next_hops, count);
    uint32_t id = find(store, hash, next_hops, count);
    if (id != NEXT_HOPS_NONE) {
        store->rows[id - 1].holders++;
        return id;
    }
    tm_next_hops made;
    bool is_new = store->free == NEXT_HOPS_NONE;
    if (tm_idset_reserve(&store->set, store->memory, TM_COLD, hash_of, store) != TM_OK ||
        (is_new &&
         !tm_grow(store->memory, TM_COLD, &store->rows, sizeof *store->rows, &store->capacity, store->used + 1)) ||
        !make(store, next_hops, count, &made)) {
        return NEXT_HOPS_NONE;
    }
    id = is_new ? ++store->used : store->free;
    store->free = is_new ? NEXT_HOPS_NONE : store->rows[id - 1].count;
    store->rows[id - 1] = made;
    tm_idset_insert(&store->set, hash, id);
    return id;
}

void tm_next_hops_release(tm_next_hops_store *store, uint32_t id) {
    if (id == NEXT_HOPS_NONE || --store->rows[id - 1].holders > 0) {
        return;
    }
    tm_idset_remove(&store->set, hash_of(store, id), id, hash_of, store);
    clear(store, &store->rows[id - 1]);
    store->rows[id - 1].count = store->free;
    store->free = id;
}

/* ---- routers with filters ---- */

static void note_asking(tm_next_hops *next_hops, const tm_network *network) {
    memset(next_hops->asking, 0, sizeof *next_hops->asking * child_words(next_hops->neighbour_count));
    for (uint32_t router = 0; router < next_hops->count; router++) {
        if (next_hops->by_router[router] != NEXT_HOP_NONE && tm_network_is_asking(network, router)) {
            tm_bit_set(next_hops->asking, next_hops->by_router[router]);
        }
    }
    next_hops->asking_version = network->version;
}

const uint64_t *tm_next_hops_asking(tm_next_hops_store *store, uint32_t id, const tm_network *network,
                                    uint32_t *words) {
    tm_next_hops *next_hops = tm_next_hops_at(store, id);
    *words = child_words(next_hops->neighbour_count);
    if (next_hops->asking == NULL) {
        next_hops->asking = TM_NEW(store->memory, TM_COLD, uint64_t, *words);
    } else if (next_hops->asking_version == network->version) {
        return next_hops->asking;
    }
    if (next_hops->asking != NULL) {
        note_asking(next_hops, network);
    }
    return next_hops->asking;
}

/* ---- reached routers ---- */

/* Return the rank of a neighbour among the children, ascending; for UINT32_MAX, the number of children. */
static uint32_t rank(const tm_next_hops *next_hops, uint32_t neighbour) {
    uint32_t before = 0;
    for (uint32_t word = 0; word * 64 < next_hops->neighbour_count && word <= neighbour / 64; word++) {
        uint64_t below = word < neighbour / 64 ? UINT64_MAX : (UINT64_C(1) << (neighbour % 64)) - 1;
        before += tm_bit_count(next_hops->children[word] & below);
    }
    return before;
}

static void note_reach(tm_next_hops *next_hops, const tm_routers *routers, const tm_places *places) {
    uint32_t words = tm_bit_words(places->count);
    memset(next_hops->reach, 0, sizeof *next_hops->reach * next_hops->reach_size);
    for (uint32_t place = 0; place < places->count; place++) {
        uint32_t next_hop = tm_next_hops_towards(next_hops, tm_routers_find(routers, places->numbers[place]));
        if (next_hop != NEXT_HOP_NONE) {
            tm_bit_set(next_hops->reach + (size_t)rank(next_hops, next_hop) * words, place);
        }
    }
    next_hops->reach_version = places->version;
}

const uint64_t *tm_next_hops_reach(tm_next_hops_store *store, uint32_t id, const tm_routers *routers,
                                   const tm_places *places) {
    tm_next_hops *next_hops = tm_next_hops_at(store, id);
    if (next_hops->reach != NULL && next_hops->reach_version == places->version) {
        return next_hops->reach;
    }
    uint32_t size = 1 + rank(next_hops, UINT32_MAX) * tm_bit_words(places->count);
    if (size != next_hops->reach_size) {
        TM_DELETE(store->memory, TM_COLD, next_hops->reach, uint64_t, next_hops->reach_size);
        next_hops->reach = TM_NEW(store->memory, TM_COLD, uint64_t, size);
        next_hops->reach_size = next_hops->reach != NULL ? size : 0;
    }
    if (next_hops->reach != NULL) {
        note_reach(next_hops, routers, places);
    }
    return next_hops->reach;
}

/* ---- soundness ---- */

static bool is_sound(const tm_next_hops *next_hops) {
    for (uint32_t router = 0; router < next_hops->count; router++) {
        uint32_t next_hop = next_hops->by_router[router];
        if (next_hop != NEXT_HOP_NONE &&
            (next_hop >= next_hops->neighbour_count || !tm_bit_at(next_hops->children, next_hop))) {
            return false;
        }
    }
    return next_hops->holders > 0 &&
           (next_hops->count == 0 || next_hops->by_router[next_hops->count - 1] != NEXT_HOP_NONE);
}

bool tm_next_hops_are_sound(const tm_next_hops_store *store) {
    uint32_t live = 0;
    for (uint32_t row = 0; row < store->used; row++) {
        bool is_live = store->rows[row].children != NULL;
        if (is_live && !is_sound(&store->rows[row])) {
            return false;
        }
        live += is_live;
    }
    return live == store->set.count && tm_idset_is_sound(&store->set, hash_of, store);
}
