/* tree.c - adds and removes hubs and tests with the filters behind them. Law: see tree.h. */
#include "engines/pst/tree_trits.h"

#include "base/grow.h"
#include "base/hash.h"

/* ---- searches ---- */

static uint64_t hash_hub(const void *owner, uint64_t id) {
    const pst_tree *tree = owner;
    return tm_hash_words(tree->hubs[id].test, tree->hubs[id].label, 1, &tree->memory->key);
}

static uint64_t hash_test(const void *owner, uint64_t id) {
    const pst_tree *tree = owner;
    return tm_hash_words(tree->tests[id].hub, tree->tests[id].name, 2, &tree->memory->key);
}

uint32_t pst_tree_test(const pst_tree *tree, uint32_t hub, uint32_t name) {
    tm_idset_search at = tm_idset_start(&tree->test_ids, tm_hash_words(hub, name, 2, &tree->memory->key));
    for (uint32_t id; (id = tm_idset_next(&at)) != PST_NONE;) {
        if (tree->tests[id].hub == hub && tree->tests[id].name == name) {
            return id;
        }
    }
    return PST_NONE;
}

uint32_t pst_tree_hub(const pst_tree *tree, uint32_t test, uint32_t label) {
    tm_idset_search at = tm_idset_start(&tree->hub_ids, tm_hash_words(test, label, 1, &tree->memory->key));
    for (uint32_t id; (id = tm_idset_next(&at)) != PST_NONE;) {
        if (tree->hubs[id].test == test && tree->hubs[id].label == label) {
            return id;
        }
    }
    return PST_NONE;
}

uint32_t pst_tree_path(const pst_tree *tree, uint32_t handle, uint32_t labels[TM_CONSTRAINTS_MAX]) {
    uint32_t count = 0;
    for (uint32_t hub = tree->seats[handle].hub; hub != PST_ROOT; hub = tree->tests[tree->hubs[hub].test].hub) {
        labels[count++] = tree->hubs[hub].label;
    }
    for (uint32_t i = 0; i < count / 2; i++) {
        uint32_t label = labels[i];
        labels[i] = labels[count - 1 - i];
        labels[count - 1 - i] = label;
    }
    return count;
}

/* ---- tests of a hub ---- */

/* Row 0 is written where there is no row, and never read. */
static void link_test(pst_tree *tree, uint32_t id) {
    pst_test *test = &tree->tests[id];
    uint32_t *first = &tree->hubs[test->hub].first[test->lacking > 0];
    test->previous = PST_NONE;
    test->next = *first;
    tree->tests[test->next].previous = id;
    *first = id;
}

static void unlink_test(pst_tree *tree, uint32_t id) {
    pst_test *test = &tree->tests[id];
    uint32_t *first = &tree->hubs[test->hub].first[test->lacking > 0];
    *(test->previous != PST_NONE ? &tree->tests[test->previous].next : first) = test->next;
    tree->tests[test->next].previous = test->previous;
}

static int make_test(pst_tree *tree, uint32_t hub, uint32_t name, uint32_t *id) {
    uint32_t wanted = tree->test_count + (tree->free_test == PST_NONE);
    if (!tm_grow(tree->memory, TM_HOT, &tree->tests, sizeof *tree->tests, &tree->test_capacity, wanted) ||
        tm_idset_reserve(&tree->test_ids, tree->memory, TM_HOT, hash_test, tree) != TM_OK) {
        return TM_NO_MEMORY;
    }
    *id = tree->free_test != PST_NONE ? tree->free_test : tree->test_count++;
    pst_test *test = &tree->tests[*id];
    tree->free_test = *id == tree->free_test ? test->next : tree->free_test;
    *test = (pst_test){.hub = hub, .name = name};
    pst_trits_init(&test->trits);
    link_test(tree, *id);
    tree->hubs[hub].tests++;
    tm_idset_insert(&tree->test_ids, hash_test(tree, *id), *id);
    return TM_OK;
}

static void drop_test(pst_tree *tree, uint32_t id) {
    pst_test *test = &tree->tests[id];
    tm_idset_remove(&tree->test_ids, hash_test(tree, id), id, hash_test, tree);
    unlink_test(tree, id);
    tree->hubs[test->hub].tests--;
    if (test->bounds != NULL) {
        tm_ordered_free(&test->bounds->low, tree->memory);
        tm_ordered_free(&test->bounds->high, tree->memory);
        TM_DELETE(tree->memory, TM_HOT, test->bounds, pst_bounds, 1);
        tree->with_bounds--;
    }
    pst_trits_free(&test->trits, &tree->room);
    *test = (pst_test){.next = tree->free_test};
    tree->free_test = id;
}

/* ---- hubs of a test ---- */

static pst_list list_of(const pst_label *label) {
    return label->kind == PST_EQUAL ? PST_LIST_EQUAL : label->kind == PST_OTHER ? PST_LIST_OTHER : PST_LIST_BOUNDED;
}

/* Return the place of the hub of a bound: one that the number itself satisfies comes first among low ones, last among
 * high ones, so that the satisfied ones are always those before a place, or after it. */
static tm_probe place_of(const pst_label *label, uint32_t hub) {
    tm_probe probe = tm_probe_number(label->bound);
    probe.tag = (label->kind == PST_LOW) == label->is_strict;
    probe.constraint = hub;
    return probe;
}

static tm_ordered *side_of(const pst_test *test, const pst_label *label) {
    return label->kind == PST_LOW ? &test->bounds->low : &test->bounds->high;
}

static int add_bound(pst_tree *tree, pst_test *test, const pst_label *label, uint32_t hub) {
    if (test->bounds == NULL) {
        test->bounds = TM_NEW(tree->memory, TM_HOT, pst_bounds, 1);
        tree->with_bounds += test->bounds != NULL;
    }
    if (test->bounds == NULL) {
        return TM_NO_MEMORY;
    }
    tm_probe probe = place_of(label, hub);
    int result = tm_ordered_add(side_of(test, label), tree->memory, NULL, &probe, 0);
    tree->bounded += result == TM_OK;
    return result;
}

/* Set how many hubs of a test hold without its name; the test may change its list. */
static void set_lacking(pst_tree *tree, uint32_t test, uint32_t lacking) {
    unlink_test(tree, test);
    tree->tests[test].lacking = lacking;
    link_test(tree, test);
}

static void link_hub(pst_tree *tree, uint32_t id, const pst_label *label) {
    pst_hub *hub = &tree->hubs[id];
    pst_test *test = &tree->tests[hub->test];
    uint32_t *first = &test->first[list_of(label)];
    hub->next = *first;
    tree->hubs[hub->next].previous = id;
    *first = id;
    test->hubs++;
    if (label->lacks) {
        set_lacking(tree, hub->test, test->lacking + 1);
    }
}

static void unlink_hub(pst_tree *tree, uint32_t id, const pst_label *label) {
    pst_hub *hub = &tree->hubs[id];
    pst_test *test = &tree->tests[hub->test];
    *(hub->previous != PST_NONE ? &tree->hubs[hub->previous].next : &test->first[list_of(label)]) = hub->next;
    tree->hubs[hub->next].previous = hub->previous;
    test->hubs--;
    if (label->lacks) {
        set_lacking(tree, hub->test, test->lacking - 1);
    }
}

static int make_hub(pst_tree *tree, uint32_t test, uint32_t label_id, uint32_t *id) {
    const pst_label *label = &tree->labels.rows[label_id];
    uint32_t wanted = tree->hub_count + (tree->free_hub == PST_NONE);
    if (!tm_grow(tree->memory, TM_HOT, &tree->hubs, sizeof *tree->hubs, &tree->hub_capacity, wanted) ||
        tm_idset_reserve(&tree->hub_ids, tree->memory, TM_HOT, hash_hub, tree) != TM_OK) {
        return TM_NO_MEMORY;
    }
    *id = tree->free_hub != PST_NONE ? tree->free_hub : tree->hub_count;
    if (list_of(label) == PST_LIST_BOUNDED && add_bound(tree, &tree->tests[test], label, *id) != TM_OK) {
        return TM_NO_MEMORY;
    }
    pst_hub *hub = &tree->hubs[*id];
    tree->hub_count += *id == tree->hub_count;
    tree->free_hub = *id == tree->free_hub ? hub->next : tree->free_hub;
    *hub = (pst_hub){.test = test, .label = label_id};
    pst_trits_init(&hub->trits);
    link_hub(tree, *id, label);
    tm_idset_insert(&tree->hub_ids, hash_hub(tree, *id), *id);
    pst_labels_hold(&tree->labels, label_id);
    return TM_OK;
}

static void drop_hub(pst_tree *tree, uint32_t id) {
    pst_hub *hub = &tree->hubs[id];
    pst_test *test = &tree->tests[hub->test];
    const pst_label *label = &tree->labels.rows[hub->label];
    tm_idset_remove(&tree->hub_ids, hash_hub(tree, id), id, hash_hub, tree);
    if (list_of(label) == PST_LIST_BOUNDED) {
        tm_probe probe = place_of(label, id);
        tm_ordered_remove(side_of(test, label), tree->memory, NULL, &probe);
        tree->bounded--;
    }
    unlink_hub(tree, id, label);
    pst_labels_release(&tree->labels, hub->label);
    pst_trits_free(&hub->trits, &tree->room);
    *hub = (pst_hub){.next = tree->free_hub};
    tree->free_hub = id;
}

/* ---- filters ---- */

/* Remove hubs and tests that lead to no filter, from the hub up. */
static void prune(pst_tree *tree, uint32_t hub) {
    while (hub != PST_ROOT && pst_children(&tree->hubs[hub]) == 0) {
        uint32_t test = tree->hubs[hub].test;
        drop_hub(tree, hub);
        pst_tree_relax(tree, &tree->tests[test].trits, tree->tests[test].hubs);
        if (tree->tests[test].hubs > 0) {
            return;
        }
        hub = tree->tests[test].hub;
        drop_test(tree, test);
    }
    pst_tree_relax(tree, &tree->hubs[hub].trits, pst_children(&tree->hubs[hub]));
}

/* Find or make the hub behind the label. TM_NO_MEMORY: unchanged. */
static int step_down(pst_tree *tree, uint32_t label, uint32_t *hub) {
    uint32_t name = tree->labels.rows[label].name;
    uint32_t test = pst_tree_test(tree, *hub, name);
    uint32_t next = test != PST_NONE ? pst_tree_hub(tree, test, label) : PST_NONE;
    int result = test != PST_NONE ? TM_OK : make_test(tree, *hub, name, &test);
    if (result == TM_OK && next == PST_NONE) {
        result = make_hub(tree, test, label, &next);
        if (result != TM_OK && tree->tests[test].hubs == 0) {
            drop_test(tree, test);
        }
    }
    *hub = result == TM_OK ? next : *hub;
    return result;
}

static void sit_down(pst_tree *tree, uint32_t hub, uint32_t handle) {
    uint32_t next = tree->hubs[hub].here;
    tree->seats[handle] = (pst_seat){.hub = hub, .next = next};
    if (next != 0) {
        tree->seats[next - 1].previous = handle + 1;
    }
    tree->hubs[hub].here = handle + 1;
    tree->hubs[hub].filters++;
    tree->filters++;
}

static void stand_up(pst_tree *tree, uint32_t handle) {
    pst_seat *seat = &tree->seats[handle];
    if (seat->next != 0) {
        tree->seats[seat->next - 1].previous = seat->previous;
    }
    *(seat->previous != 0 ? &tree->seats[seat->previous - 1].next : &tree->hubs[seat->hub].here) = seat->next;
    tree->hubs[seat->hub].filters--;
    tree->filters--;
    *seat = (pst_seat){0};
}

/* Find or make the hub behind these labels, with room for the position on the path. TM_NO_MEMORY: unchanged. */
static int prepare(pst_tree *tree, const uint32_t *labels, uint32_t count, uint32_t position, uint32_t *hub) {
    int result = TM_OK;
    *hub = PST_ROOT;
    for (uint32_t i = 0; i < count && result == TM_OK; i++) {
        result = step_down(tree, labels[i], hub);
    }
    result = result == TM_OK ? pst_tree_reserve_trits(tree, *hub, position) : result;
    if (result != TM_OK) {
        prune(tree, *hub);
    }
    return result;
}

static void enter(pst_tree *tree, uint32_t hub, uint32_t handle) {
    sit_down(tree, hub, handle);
    if (tree->annotated) {
        pst_tree_gain(tree, hub, pst_position_of(tree, handle));
    }
}

/* Remove a filter. Returns its hub, which the caller prunes. */
static uint32_t leave(pst_tree *tree, uint32_t handle) {
    uint32_t hub = tree->seats[handle].hub;
    stand_up(tree, handle);
    if (tree->annotated) {
        pst_tree_lose(tree, hub, pst_position_of(tree, handle));
    }
    return hub;
}

int pst_tree_attach(pst_tree *tree, const uint32_t *labels, uint32_t count, uint32_t handle) {
    uint32_t hub;
    bool has_room = tm_grow(tree->memory, TM_HOT, &tree->seats, sizeof *tree->seats, &tree->seat_capacity, handle + 1);
    int result = has_room ? prepare(tree, labels, count, pst_position_of(tree, handle), &hub) : TM_NO_MEMORY;
    if (result == TM_OK) {
        enter(tree, hub, handle);
        tree->seat_count = handle < tree->seat_count ? tree->seat_count : handle + 1;
    }
    return result;
}

void pst_tree_move(pst_tree *tree, const uint32_t *labels, uint32_t count, uint32_t handle) {
    uint32_t hub;
    if (prepare(tree, labels, count, pst_position_of(tree, handle), &hub) != TM_OK) {
        return;
    }
    uint32_t old = leave(tree, handle);
    enter(tree, hub, handle); /* before the other is pruned, which could remove this path */
    prune(tree, old);
}

void pst_tree_detach(pst_tree *tree, uint32_t handle) {
    prune(tree, leave(tree, handle));
}

/* ---- the whole ---- */

static void plant_root(pst_tree *tree) {
    tree->hub_count = PST_ROOT + 1;
    tree->test_count = 1;
    tree->hubs[PST_ROOT] = (pst_hub){0};
    pst_trits_init(&tree->hubs[PST_ROOT].trits);
}

int pst_tree_init(pst_tree *tree, tm_memory *memory, const tm_holders *holders, bool annotated) {
    *tree = (pst_tree){.memory = memory, .holders = holders, .annotated = annotated, .room = {.memory = memory}};
    int result = pst_labels_init(&tree->labels, memory);
    if (result != TM_OK ||
        !tm_grow(memory, TM_HOT, &tree->hubs, sizeof *tree->hubs, &tree->hub_capacity, PST_ROOT + 1) ||
        !tm_grow(memory, TM_HOT, &tree->tests, sizeof *tree->tests, &tree->test_capacity, 1)) {
        return TM_NO_MEMORY;
    }
    plant_root(tree);
    return TM_OK;
}

void pst_tree_forget(pst_tree *tree) {
    pst_trits_free(&tree->hubs[PST_ROOT].trits, &tree->room);
    plant_root(tree);
    tree->free_hub = PST_NONE;
    tree->free_test = PST_NONE;
    tm_shrink(tree->memory, TM_HOT, &tree->hubs, sizeof *tree->hubs, &tree->hub_capacity, PST_ROOT + 1);
    tm_shrink(tree->memory, TM_HOT, &tree->tests, sizeof *tree->tests, &tree->test_capacity, 1);
    TM_DELETE(tree->memory, TM_HOT, tree->seats, pst_seat, tree->seat_capacity);
    tree->seats = NULL;
    tree->seat_capacity = 0;
    tree->seat_count = 0;
    tm_idset_free(&tree->hub_ids, tree->memory, TM_HOT);
    tm_idset_free(&tree->test_ids, tree->memory, TM_HOT);
    pst_labels_forget(&tree->labels);
}

void pst_tree_free(pst_tree *tree) {
    for (uint32_t id = PST_ROOT; id < tree->hub_count; id++) {
        pst_trits_free(&tree->hubs[id].trits, &tree->room);
    }
    for (uint32_t id = 1; id < tree->test_count; id++) {
        pst_test *test = &tree->tests[id];
        pst_trits_free(&test->trits, &tree->room);
        if (test->bounds != NULL) {
            tm_ordered_free(&test->bounds->low, tree->memory);
            tm_ordered_free(&test->bounds->high, tree->memory);
            TM_DELETE(tree->memory, TM_HOT, test->bounds, pst_bounds, 1);
        }
    }
    TM_DELETE(tree->memory, TM_HOT, tree->hubs, pst_hub, tree->hub_capacity);
    TM_DELETE(tree->memory, TM_HOT, tree->tests, pst_test, tree->test_capacity);
    TM_DELETE(tree->memory, TM_HOT, tree->seats, pst_seat, tree->seat_capacity);
    tm_idset_free(&tree->hub_ids, tree->memory, TM_HOT);
    tm_idset_free(&tree->test_ids, tree->memory, TM_HOT);
    pst_labels_free(&tree->labels);
}

void pst_tree_probes(const pst_tree *tree, tm_probes *probes) {
    tm_idset_probes(&tree->hub_ids, hash_hub, tree, probes);
    tm_idset_probes(&tree->test_ids, hash_test, tree, probes);
    pst_labels_probes(&tree->labels, probes);
}

/* Estimates: a row with its place in a hash; a row of names; an entry of a bound, and the bounds of a test. */
#define HUB_BYTES (sizeof(pst_hub) + 8U)
#define TEST_BYTES (sizeof(pst_test) + 8U)
#define LABEL_BYTES (sizeof(pst_label) + 8U)
#define NAME_BYTES (sizeof(pst_name) + sizeof(tm_interned) + 8U)
#define BOUND_BYTES 32U
#define BOUNDS_BYTES 160U

uint64_t pst_tree_used(const pst_tree *tree) {
    const pst_labels *labels = &tree->labels;
    return tree->filters * sizeof(pst_seat) + tree->hub_ids.count * HUB_BYTES + tree->test_ids.count * TEST_BYTES +
           tree->bounded * BOUND_BYTES + tree->with_bounds * BOUNDS_BYTES + tree->room.bytes +
           labels->ids.count * LABEL_BYTES + labels->block_bytes + labels->names.ids.count * NAME_BYTES +
           labels->names.text_bytes;
}
