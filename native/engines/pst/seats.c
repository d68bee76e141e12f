/* seats.c - seats filters at hubs. Law: see seats.h. */
#include "engines/pst/seats.h"

#include "base/grow.h"
#include "engines/pst/tree_trits.h"

uint32_t pst_seats_path(const pst_tree *tree, uint32_t seat, uint32_t labels[TM_CONSTRAINTS_MAX]) {
    uint32_t count = 0;
    for (uint32_t hub = tree->seats[seat].hub; !pst_is_root(tree, hub); hub = tree->tests[tree->hubs[hub].test].hub) {
        labels[count++] = tree->hubs[hub].label;
    }
    for (uint32_t i = 0; i < count / 2; i++) {
        uint32_t label = labels[i];
        labels[i] = labels[count - 1 - i];
        labels[count - 1 - i] = label;
    }
    return count;
}

/* ---- seats of a hub ---- */

/* Row 0 is written where there is no row, and never read. */
static void link_seat(pst_tree *tree, uint32_t id, uint32_t hub) {
    uint32_t next = tree->hubs[hub].here;
    tree->seats[id].hub = hub;
    tree->seats[id].next = next;
    tree->seats[id].previous = PST_NONE;
    tree->seats[next].previous = id;
    tree->hubs[hub].here = id;
    tree->hubs[hub].filters++;
}

static void unlink_seat(pst_tree *tree, uint32_t id) {
    const pst_seat *seat = &tree->seats[id];
    pst_hub *hub = &tree->hubs[seat->hub];
    *(seat->previous != PST_NONE ? &tree->seats[seat->previous].next : &hub->here) = seat->next;
    tree->seats[seat->next].previous = seat->previous;
    hub->filters--;
}

static void enter(pst_tree *tree, uint32_t id, uint32_t hub) {
    link_seat(tree, id, hub);
    pst_tree_gain(tree, hub, pst_position_of(tree, id));
}

/* Leave the hub, which the caller prunes; returns it. */
static uint32_t leave(pst_tree *tree, uint32_t id) {
    uint32_t hub = tree->seats[id].hub;
    unlink_seat(tree, id);
    pst_tree_lose(tree, hub, pst_position_of(tree, id));
    return hub;
}

/* ---- seats of a filter ---- */

/* Make a seat behind these labels below a root: the first one of the filter, or the one after it. */
static int sit_down(pst_tree *tree, uint32_t root, const uint32_t *labels, uint32_t count, uint32_t handle) {
    uint32_t hub;
    uint32_t wanted = tree->seat_count + (tree->free_seat == PST_NONE);
    uint32_t position = pst_position(tm_holders_interface(tree->holders, handle));
    if (!tm_grow(tree->memory, TM_HOT, &tree->seats, sizeof *tree->seats, &tree->seat_capacity, wanted) ||
        pst_tree_reach(tree, root, labels, count, position, &hub) != TM_OK) {
        return TM_NO_MEMORY;
    }
    uint32_t id = tree->free_seat != PST_NONE ? tree->free_seat : tree->seat_count++;
    pst_seat *seat = &tree->seats[id];
    tree->free_seat = id == tree->free_seat ? seat->next : tree->free_seat;
    uint32_t first = tree->seated[handle];
    *seat = (pst_seat){.handle = handle, .other = first != PST_NONE ? tree->seats[first].other : PST_NONE};
    *(first != PST_NONE ? &tree->seats[first].other : &tree->seated[handle]) = id;
    tree->taken_seats++;
    enter(tree, id, hub);
    return TM_OK;
}

static int sit_down_in(pst_tree *tree, const pst_space *space, const uint32_t *labels, uint32_t count,
                       uint32_t handle) {
    pst_share share;
    int result = TM_OK;
    if (!pst_factor_share(space, &tree->labels, labels, count, &share)) {
        return TM_OK;
    }
    for (uint32_t key = 0; key < space->keys && result == TM_OK; key++) {
        if (pst_share_allows(&share, space, key)) {
            result = sit_down(tree, space->first + key, share.labels, share.count, handle);
        }
    }
    return result;
}

static void stand_up(pst_tree *tree, uint32_t handle) {
    uint32_t id = tree->seated[handle];
    while (id != PST_NONE) {
        uint32_t other = tree->seats[id].other;
        pst_tree_prune(tree, leave(tree, id));
        tree->seats[id] = (pst_seat){.next = tree->free_seat};
        tree->free_seat = id;
        tree->taken_seats--;
        id = other;
    }
    tree->seated[handle] = PST_NONE;
}

int pst_seats_add(pst_tree *tree, const uint32_t *labels, uint32_t count, uint32_t handle) {
    if (!tm_grow(tree->memory, TM_HOT, &tree->seated, sizeof *tree->seated, &tree->seated_capacity, handle + 1)) {
        return TM_NO_MEMORY;
    }
    int result = sit_down(tree, PST_ROOT, labels, count, handle);
    for (uint32_t i = 0; i < tree->factor.count && result == TM_OK; i++) {
        result = sit_down_in(tree, &tree->factor.spaces[i], labels, count, handle);
    }
    if (result != TM_OK) {
        stand_up(tree, handle);
        return result;
    }
    tree->handles = handle < tree->handles ? tree->handles : handle + 1;
    tree->filters++;
    return TM_OK;
}

void pst_seats_remove(pst_tree *tree, uint32_t handle) {
    stand_up(tree, handle);
    tree->filters--;
}

void pst_seats_move(pst_tree *tree, uint32_t seat, const uint32_t *labels, uint32_t count) {
    uint32_t hub;
    uint32_t root = pst_root_of(tree, tree->seats[seat].hub);
    if (pst_tree_reach(tree, root, labels, count, pst_position_of(tree, seat), &hub) != TM_OK) {
        return;
    }
    uint32_t old = leave(tree, seat);
    enter(tree, seat, hub); /* before the other is pruned, which could remove this path */
    pst_tree_prune(tree, old);
}
