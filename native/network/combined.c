/* combined.c - see combined.h. */
#include "network/combined.h"

#include <string.h>

#include "base/grow.h"

void tm_combined_init(tm_combined_store *store, tm_next_hops_store *next_hops) {
    *store = (tm_combined_store){.next_hops = next_hops};
}

static void drop(tm_combined_store *store, tm_combined *combined) {
    if (combined->view != 0) {
        tm_table_drop_view(store->next_hops->table, combined->view);
    }
    TM_DELETE(store->next_hops->memory, TM_COLD, combined->groups, tm_next_hop_group, combined->group_capacity);
    TM_DELETE(store->next_hops->memory, TM_COLD, combined->reaches, uint64_t, combined->reach_capacity);
}

void tm_combined_clear(tm_combined_store *store) {
    tm_memory *memory = store->next_hops->memory;
    for (uint32_t row = 0; row < store->count; row++) {
        tm_next_hop_blocks *blocks = &store->rows[row].blocks;
        drop(store, &store->rows[row]);
        for (uint32_t i = 0; i < blocks->count; i++) {
            tm_next_hops_release(store->next_hops, blocks->ids[i]);
        }
        tm_next_hops_release(store->next_hops, blocks->own);
    }
    TM_DELETE(memory, TM_COLD, store->rows, tm_combined, store->capacity);
    tm_idset_free(&store->set, memory, TM_COLD);
    tm_combined_init(store, store->next_hops);
}

/* ---- groups ---- */

static uint64_t hash_words(const uint32_t words[COMBINED_NEXT_HOPS_MAX], uint32_t more, const tm_hash_key *key) {
    return tm_hash_words(words[0] | (uint64_t)words[1] << 32, words[2] | (uint64_t)words[3] << 32, more, key);
}

/* A grouping while it is made, with a set of its groups. */
typedef struct making {
    tm_memory *memory;
    tm_combined *made;
    tm_idset set; /* of group numbers + 1 */
} making;

static uint64_t hash_of_group(const void *owner, uint64_t id) {
    const making *at = owner;
    const tm_next_hop_group *group = &at->made->groups[id - 1];
    return hash_words(group->next_hops, group->is_reached, &at->memory->key);
}

static bool use_group(making *at, const tm_next_hop_group *wanted, uint32_t *number) {
    tm_combined *made = at->made;
    uint64_t hash = hash_words(wanted->next_hops, wanted->is_reached, &at->memory->key);
    tm_idset_search search = tm_idset_start(&at->set, hash);
    for (uint32_t id; (id = tm_idset_next(&search)) != 0;) {
        const tm_next_hop_group *group = &made->groups[id - 1];
        if (memcmp(group->next_hops, wanted->next_hops, sizeof group->next_hops) == 0 &&
            group->is_reached == wanted->is_reached) {
            *number = id - 1;
            return true;
        }
    }
    if (tm_idset_reserve(&at->set, at->memory, TM_COLD, hash_of_group, at) != TM_OK ||
        !tm_grow(at->memory, TM_COLD, &made->groups, sizeof *made->groups, &made->group_capacity,
                 made->group_count + 1)) {
        return false;
    }
    *number = made->group_count++;
    made->groups[*number] = *wanted;
    tm_idset_insert(&at->set, hash, *number + 1);
    return true;
}

/* Set the group of a router; false: no generation has a next hop to it. */
static bool place(const tm_next_hops_store *next_hops, const tm_next_hop_blocks *blocks, uint32_t router,
                  tm_next_hop_group *group) {
    uint32_t last = NEXT_HOP_NONE;
    bool is_anywhere = false;
    for (uint32_t i = 0; i < COMBINED_NEXT_HOPS_MAX; i++) {
        group->next_hops[i] = i < blocks->count
                                  ? tm_next_hops_towards(tm_next_hops_at(next_hops, blocks->ids[i]), router)
                                  : NEXT_HOP_NONE;
        last = i < blocks->count ? group->next_hops[i] : last;
        is_anywhere = is_anywhere || group->next_hops[i] != NEXT_HOP_NONE;
    }
    group->is_reached =
        last == NEXT_HOP_NONE && tm_next_hops_towards(tm_next_hops_at(next_hops, blocks->own), router) != NEXT_HOP_NONE;
    return is_anywhere;
}

static bool group_all(making *at, const tm_next_hops_store *next_hops, uint32_t *groups, uint32_t count) {
    for (uint32_t router = 0; router < count; router++) {
        tm_next_hop_group group;
        groups[router] = NEXT_HOP_NONE;
        if (place(next_hops, &at->made->blocks, router, &group) && !use_group(at, &group, &groups[router])) {
            return false;
        }
    }
    return true;
}

static uint64_t reach_of(const tm_next_hop_group *group) {
    uint64_t reach = 0;
    for (uint32_t i = 0; i < COMBINED_NEXT_HOPS_MAX; i++) {
        if (group->next_hops[i] == NEXT_HOP_NONE) {
            continue;
        }
        if (group->next_hops[i] >= 64) {
            return 0;
        }
        reach |= UINT64_C(1) << group->next_hops[i];
    }
    return reach;
}

static bool note_reach(tm_memory *memory, tm_combined *made) {
    if (!tm_grow(memory, TM_COLD, &made->reaches, sizeof *made->reaches, &made->reach_capacity,
                 made->group_count + 1)) {
        return false;
    }
    for (uint32_t group = 0; group < made->group_count; group++) {
        made->reaches[group] = reach_of(&made->groups[group]);
        made->reached |= made->reaches[group];
    }
    return true;
}

static uint64_t bytes_of(const tm_combined *made, uint32_t routers) {
    return sizeof *made->groups * (uint64_t)made->group_capacity +
           sizeof *made->reaches * (uint64_t)made->reach_capacity + sizeof(uint32_t) * (uint64_t)routers;
}

/* Make the groups and the view of a grouping that has its blocks. */
static bool make(tm_combined_store *store, tm_combined *made) {
    tm_memory *memory = store->next_hops->memory;
    making at = {.memory = memory, .made = made};
    uint32_t count = 0;
    for (uint32_t i = 0; i < made->blocks.count; i++) {
        const tm_next_hops *next_hops = tm_next_hops_at(store->next_hops, made->blocks.ids[i]);
        count = next_hops != NULL && next_hops->count > count ? next_hops->count : count;
    }
    uint32_t *groups = TM_NEW(memory, TM_COLD, uint32_t, count + 1);
    bool is_made = groups != NULL && group_all(&at, store->next_hops, groups, count) && note_reach(memory, made) &&
                   store->bytes + bytes_of(made, count) <= COMBINED_BYTES_MAX &&
                   tm_table_view(store->next_hops->table, groups, count, &made->view) == TM_OK;
    TM_DELETE(memory, TM_COLD, groups, uint32_t, count + 1);
    tm_idset_free(&at.set, memory, TM_COLD);
    if (is_made) {
        store->bytes += bytes_of(made, count);
    } else {
        drop(store, made);
    }
    return is_made;
}

/* ---- groupings ---- */

static uint64_t hash_blocks(const tm_combined_store *store, const tm_next_hop_blocks *blocks) {
    return hash_words(blocks->ids, blocks->own, &store->next_hops->memory->key);
}

static uint64_t hash_of(const void *owner, uint64_t id) {
    const tm_combined_store *store = owner;
    return hash_blocks(store, &store->rows[id - 1].blocks);
}

static bool are_equal(const tm_next_hop_blocks *one, const tm_next_hop_blocks *other) {
    return one->count == other->count && one->own == other->own && memcmp(one->ids, other->ids, sizeof one->ids) == 0;
}

uint32_t tm_combined_take(tm_combined_store *store, const tm_next_hop_blocks *blocks) {
    tm_memory *memory = store->next_hops->memory;
    uint64_t hash = hash_blocks(store, blocks);
    tm_idset_search at = tm_idset_start(&store->set, hash);
    for (uint32_t id; (id = tm_idset_next(&at)) != COMBINED_NONE;) {
        if (are_equal(&store->rows[id - 1].blocks, blocks)) {
            return id;
        }
    }
    tm_combined made = {.blocks = *blocks};
    if (tm_idset_reserve(&store->set, memory, TM_COLD, hash_of, store) != TM_OK ||
        !tm_grow(memory, TM_COLD, &store->rows, sizeof *store->rows, &store->capacity, store->count + 1) ||
        !make(store, &made)) {
        return COMBINED_NONE;
    }
    for (uint32_t i = 0; i < blocks->count; i++) {
        tm_next_hops_hold(store->next_hops, blocks->ids[i]);
    }
    tm_next_hops_hold(store->next_hops, blocks->own);
    store->rows[store->count] = made;
    tm_idset_insert(&store->set, hash, ++store->count);
    return store->count;
}
