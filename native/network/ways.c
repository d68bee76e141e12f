/* ways.c - see ways.h. */
#include "network/ways.h"

#include <string.h>

#include "base/bits.h"
#include "base/grow.h"

void tm_ways_init(tm_ways_store *store, tm_memory *memory, tm_table *table) {
    *store = (tm_ways_store){.memory = memory, .table = table};
}

/* At least one word, so that ways which lead nowhere are a block all the same. */
static uint32_t child_words(uint32_t neighbour_count) {
    return 1 + tm_bit_words(neighbour_count);
}

static void clear(tm_ways_store *store, tm_ways *ways) {
    if (ways->view != 0) {
        tm_table_drop_view(store->table, ways->view);
    }
    TM_DELETE(store->memory, TM_COLD, ways->children, uint64_t, child_words(ways->neighbour_count));
    TM_DELETE(store->memory, TM_COLD, ways->asking, uint64_t, child_words(ways->neighbour_count));
    TM_DELETE(store->memory, TM_COLD, ways->reach, uint64_t, ways->reach_size);
    *ways = (tm_ways){0};
}

void tm_ways_free(tm_ways_store *store) {
    for (uint32_t row = 0; row < store->used; row++) {
        if (store->rows[row].children != NULL) {
            clear(store, &store->rows[row]);
        }
    }
    TM_DELETE(store->memory, TM_COLD, store->rows, tm_ways, store->capacity);
    tm_idset_free(&store->set, store->memory, TM_COLD);
    tm_ways_init(store, store->memory, store->table);
}

/* ---- the set ---- */

static uint64_t hash_ways(const tm_ways_store *store, const uint32_t *ways, uint32_t count) {
    return tm_hash_text((const uint8_t *)ways, sizeof *ways * (size_t)count, &store->memory->key);
}

static uint64_t hash_of(const void *owner, uint64_t id) {
    const tm_ways_store *store = owner;
    const tm_ways *ways = &store->rows[id - 1];
    return hash_ways(store, ways->by_router, ways->count);
}

static uint32_t find(const tm_ways_store *store, uint64_t hash, const uint32_t *ways, uint32_t count) {
    tm_idset_search at = tm_idset_start(&store->set, hash);
    for (uint32_t id; (id = tm_idset_next(&at)) != WAYS_NONE;) {
        const tm_ways *held = &store->rows[id - 1];
        if (held->count == count && (count == 0 || memcmp(held->by_router, ways, sizeof *ways * count) == 0)) {
            return id;
        }
    }
    return WAYS_NONE;
}

/* ---- blocks ---- */

static bool make(tm_ways_store *store, const uint32_t *ways, uint32_t count, tm_ways *made) {
    *made = (tm_ways){.holders = 1};
    for (uint32_t router = 0; router < count; router++) {
        if (ways[router] != WAY_NONE && ways[router] >= made->neighbour_count) {
            made->neighbour_count = ways[router] + 1;
        }
    }
    made->children = TM_NEW(store->memory, TM_COLD, uint64_t, child_words(made->neighbour_count));
    if (made->children == NULL || (count > 0 && tm_table_view(store->table, ways, count, &made->view) != TM_OK)) {
        clear(store, made);
        return false;
    }
    made->by_router = tm_table_view_groups(store->table, made->view, &made->count);
    for (uint32_t router = 0; router < count; router++) {
        if (ways[router] != WAY_NONE) {
            tm_bit_set(made->children, ways[router]);
        }
    }
    return true;
}

uint32_t tm_ways_take(tm_ways_store *store, const uint32_t *ways, uint32_t count) {
    while (count > 0 && ways[count - 1] == WAY_NONE) {
        count--;
    }
    uint64_t hash = hash_ways(store, ways, count);
    uint32_t id = find(store, hash, ways, count);
    if (id != WAYS_NONE) {
        store->rows[id - 1].holders++;
        return id;
    }
    tm_ways made;
    bool is_new = store->free == WAYS_NONE;
    if (tm_idset_reserve(&store->set, store->memory, TM_COLD, hash_of, store) != TM_OK ||
        (is_new &&
         !tm_grow(store->memory, TM_COLD, &store->rows, sizeof *store->rows, &store->capacity, store->used + 1)) ||
        !make(store, ways, count, &made)) {
        return WAYS_NONE;
    }
    id = is_new ? ++store->used : store->free;
    store->free = is_new ? WAYS_NONE : store->rows[id - 1].count;
    store->rows[id - 1] = made;
    tm_idset_insert(&store->set, hash, id);
    return id;
}

void tm_ways_release(tm_ways_store *store, uint32_t id) {
    if (id == WAYS_NONE || --store->rows[id - 1].holders > 0) {
        return;
    }
    tm_idset_remove(&store->set, hash_of(store, id), id, hash_of, store);
    clear(store, &store->rows[id - 1]);
    store->rows[id - 1].count = store->free;
    store->free = id;
}

/* ---- who asks ---- */

static void note_asking(tm_ways *ways, const tm_network *network) {
    memset(ways->asking, 0, sizeof *ways->asking * child_words(ways->neighbour_count));
    for (uint32_t router = 0; router < ways->count; router++) {
        if (ways->by_router[router] != WAY_NONE && tm_network_is_asking(network, router)) {
            tm_bit_set(ways->asking, ways->by_router[router]);
        }
    }
    ways->asking_version = network->version;
}

const uint64_t *tm_ways_asking(tm_ways_store *store, uint32_t id, const tm_network *network, uint32_t *words) {
    tm_ways *ways = tm_ways_at(store, id);
    *words = child_words(ways->neighbour_count);
    if (ways->asking == NULL) {
        ways->asking = TM_NEW(store->memory, TM_COLD, uint64_t, *words);
    } else if (ways->asking_version == network->version) {
        return ways->asking;
    }
    if (ways->asking != NULL) {
        note_asking(ways, network);
    }
    return ways->asking;
}

/* ---- who is reached ---- */

/* Which of the children a neighbour is, in ascending order; UINT32_MAX counts them. */
static uint32_t rank(const tm_ways *ways, uint32_t neighbour) {
    uint32_t before = 0;
    for (uint32_t word = 0; word * 64 < ways->neighbour_count && word <= neighbour / 64; word++) {
        uint64_t below = word < neighbour / 64 ? UINT64_MAX : (UINT64_C(1) << (neighbour % 64)) - 1;
        before += tm_bit_count(ways->children[word] & below);
    }
    return before;
}

static void note_reach(tm_ways *ways, const tm_routers *routers, const tm_places *places) {
    uint32_t words = tm_bit_words(places->count);
    memset(ways->reach, 0, sizeof *ways->reach * ways->reach_size);
    for (uint32_t place = 0; place < places->count; place++) {
        uint32_t way = tm_ways_way(ways, tm_routers_find(routers, places->numbers[place]));
        if (way != WAY_NONE) {
            tm_bit_set(ways->reach + (size_t)rank(ways, way) * words, place);
        }
    }
    ways->reach_version = places->version;
}

const uint64_t *tm_ways_reach(tm_ways_store *store, uint32_t id, const tm_routers *routers, const tm_places *places) {
    tm_ways *ways = tm_ways_at(store, id);
    if (ways->reach != NULL && ways->reach_version == places->version) {
        return ways->reach;
    }
    uint32_t size = 1 + rank(ways, UINT32_MAX) * tm_bit_words(places->count);
    if (size != ways->reach_size) {
        TM_DELETE(store->memory, TM_COLD, ways->reach, uint64_t, ways->reach_size);
        ways->reach = TM_NEW(store->memory, TM_COLD, uint64_t, size);
        ways->reach_size = ways->reach != NULL ? size : 0;
    }
    if (ways->reach != NULL) {
        note_reach(ways, routers, places);
    }
    return ways->reach;
}

/* ---- soundness ---- */

static bool is_sound(const tm_ways *ways) {
    for (uint32_t router = 0; router < ways->count; router++) {
        uint32_t way = ways->by_router[router];
        if (way != WAY_NONE && (way >= ways->neighbour_count || !tm_bit_at(ways->children, way))) {
            return false;
        }
    }
    return ways->holders > 0 && (ways->count == 0 || ways->by_router[ways->count - 1] != WAY_NONE);
}

bool tm_ways_are_sound(const tm_ways_store *store) {
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
