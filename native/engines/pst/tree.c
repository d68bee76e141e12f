/* tree.c - makes and removes hubs and tests. Law: see tree.h. */
#include "engines/pst/tree_trits.h"

#include "base/grow.h"
#include "base/hash.h"

/* ---- sets of nodes ---- */

static void init_hub_trits(pst_tree *tree, uint32_t hub) {
    for (int set = 0; set < pst_trit_sets(tree); set++) {
        pst_trits_init(pst_hub_trits(tree, hub, (pst_trit_set)set));
    }
}

static void free_hub_trits(pst_tree *tree, uint32_t hub) {
    for (int set = 0; set < pst_trit_sets(tree); set++) {
        pst_trits_free(pst_hub_trits(tree, hub, (pst_trit_set)set), &tree->room);
    }
}

static void init_test_trits(pst_tree *tree, uint32_t test) {
    for (int set = 0; set < pst_trit_sets(tree); set++) {
        pst_trits_init(pst_test_trits(tree, test, (pst_trit_set)set));
    }
}

static void free_test_trits(pst_tree *tree, uint32_t test) {
    for (int set = 0; set < pst_trit_sets(tree); set++) {
        pst_trits_free(pst_test_trits(tree, test, (pst_trit_set)set), &tree->room);
    }
}

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

static int make_test(pst_tree *tree, uint32_t hub, uint32_t name, uint32_t values, uint32_t *id) {
    uint32_t wanted = tree->test_count + (tree->free_test == PST_NONE);
    if (!tm_grow(tree->memory, TM_HOT, &tree->tests, sizeof *tree->tests, &tree->test_capacity, wanted) ||
        pst_tree_reserve_sure(tree, tree->hub_count, wanted) != TM_OK ||
        tm_idset_reserve(&tree->test_ids, tree->memory, TM_HOT, hash_test, tree) != TM_OK) {
        return TM_NO_MEMORY;
    }
    *id = tree->free_test != PST_NONE ? tree->free_test : tree->test_count++;
    pst_test *test = &tree->tests[*id];
    tree->free_test = *id == tree->free_test ? test->next : tree->free_test;
    *test = (pst_test){.hub = hub, .name = name, .values = values};
    init_test_trits(tree, *id);
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
    free_test_trits(tree, id);
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
        pst_tree_reserve_sure(tree, wanted, tree->test_count) != TM_OK ||
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
    init_hub_trits(tree, *id);
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
    free_hub_trits(tree, id);
    *hub = (pst_hub){.next = tree->free_hub};
    tree->free_hub = id;
}

/* ---- paths ---- */

void pst_tree_prune(pst_tree *tree, uint32_t hub) {
    while (!pst_is_root(tree, hub) && pst_children(&tree->hubs[hub]) == 0) {
        uint32_t test = tree->hubs[hub].test;
        drop_hub(tree, hub);
        pst_tree_relax_test(tree, test);
        if (tree->tests[test].hubs > 0) {
            return;
        }
        hub = tree->tests[test].hub;
        drop_test(tree, test);
    }
    pst_tree_relax_hub(tree, hub);
}

/* Find or make the hub behind the label. TM_NO_MEMORY: unchanged. */
static int step_down(pst_tree *tree, uint32_t root, uint32_t label, uint32_t *hub) {
    const pst_label *row = &tree->labels.rows[label];
    uint32_t test = pst_tree_test(tree, *hub, row->name);
    uint32_t next = test != PST_NONE ? pst_tree_hub(tree, test, label) : PST_NONE;
    int result = TM_OK;
    if (test == PST_NONE) {
        result = make_test(tree, *hub, row->name, pst_factor_values(&tree->factor, root, row), &test);
    }
    if (result == TM_OK && next == PST_NONE) {
        result = make_hub(tree, test, label, &next);
        if (result != TM_OK && tree->tests[test].hubs == 0) {
            drop_test(tree, test);
        }
    }
    *hub = result == TM_OK ? next : *hub;
    return result;
}

int pst_tree_reach(pst_tree *tree, uint32_t root, const uint32_t *labels, uint32_t count, uint32_t position,
                   uint32_t *hub) {
    int result = TM_OK;
    *hub = root;
    for (uint32_t i = 0; i < count && result == TM_OK; i++) {
        result = step_down(tree, root, labels[i], hub);
    }
    result = result == TM_OK ? pst_tree_reserve_trits(tree, *hub, position) : result;
    if (result != TM_OK) {
        pst_tree_prune(tree, *hub);
    }
    return result;
}

/* ---- the whole ---- */

/* Begin again with nothing but roots, for which there is room. */
static void plant(pst_tree *tree) {
    tree->hub_count = PST_ROOT + pst_roots(tree);
    tree->test_count = 1;
    tree->seat_count = 1;
    tree->free_hub = PST_NONE;
    tree->free_test = PST_NONE;
    tree->free_seat = PST_NONE;
    for (uint32_t root = PST_ROOT; root < tree->hub_count; root++) {
        tree->hubs[root] = (pst_hub){0};
        init_hub_trits(tree, root);
    }
}

int pst_tree_init(pst_tree *tree, tm_memory *memory, const tm_holders *holders, bool annotated, uint32_t factored) {
    *tree = (pst_tree){.memory = memory, .holders = holders, .annotated = annotated, .room = {.memory = memory}};
    tree->factor = (pst_factor){.memory = memory, .names = factored};
    int result = pst_labels_init(&tree->labels, memory);
    if (result != TM_OK ||
        !tm_grow(memory, TM_HOT, &tree->hubs, sizeof *tree->hubs, &tree->hub_capacity, PST_ROOT + 1) ||
        !tm_grow(memory, TM_HOT, &tree->tests, sizeof *tree->tests, &tree->test_capacity, 1) ||
        !tm_grow(memory, TM_HOT, &tree->seats, sizeof *tree->seats, &tree->seat_capacity, 1)) {
        return TM_NO_MEMORY;
    }
    plant(tree);
    return TM_OK;
}

static void free_root_trits(pst_tree *tree) {
    for (uint32_t root = PST_ROOT; root < PST_ROOT + pst_roots(tree); root++) {
        free_hub_trits(tree, root);
    }
}

int pst_tree_add_space(pst_tree *tree, const tm_filter *space) {
    uint32_t wanted = PST_ROOT + 1 + PST_KEYS_MAX;
    if (tree->factor.names == 0) {
        return TM_OK;
    }
    if (!tm_grow(tree->memory, TM_HOT, &tree->hubs, sizeof *tree->hubs, &tree->hub_capacity, wanted) ||
        !tm_grow(tree->memory, TM_HOT, &tree->sure_hubs, sizeof *tree->sure_hubs, &tree->sure_hub_capacity, wanted) ||
        !tm_grow(tree->memory, TM_HOT, &tree->sure_tests, sizeof *tree->sure_tests, &tree->sure_test_capacity, 1)) {
        return TM_NO_MEMORY;
    }
    free_root_trits(tree);
    int result = pst_factor_add(&tree->factor, space);
    plant(tree);
    return result;
}

void pst_tree_forget(pst_tree *tree) {
    free_root_trits(tree);
    plant(tree);
    tm_shrink(tree->memory, TM_HOT, &tree->hubs, sizeof *tree->hubs, &tree->hub_capacity, tree->hub_count);
    tm_shrink(tree->memory, TM_HOT, &tree->tests, sizeof *tree->tests, &tree->test_capacity, 1);
    tm_shrink(tree->memory, TM_HOT, &tree->seats, sizeof *tree->seats, &tree->seat_capacity, 1);
    if (tree->factor.keys > 0) {
        tm_shrink(tree->memory, TM_HOT, &tree->sure_hubs, sizeof *tree->sure_hubs, &tree->sure_hub_capacity,
                  tree->hub_count);
        tm_shrink(tree->memory, TM_HOT, &tree->sure_tests, sizeof *tree->sure_tests, &tree->sure_test_capacity, 1);
    }
    TM_DELETE(tree->memory, TM_HOT, tree->seated, uint32_t, tree->seated_capacity);
    tree->seated = NULL;
    tree->seated_capacity = 0;
    tree->handles = 0;
    tm_idset_free(&tree->hub_ids, tree->memory, TM_HOT);
    tm_idset_free(&tree->test_ids, tree->memory, TM_HOT);
    pst_labels_forget(&tree->labels);
}

void pst_tree_free(pst_tree *tree) {
    for (uint32_t id = PST_ROOT; id < tree->hub_count; id++) {
        free_hub_trits(tree, id);
    }
    for (uint32_t id = 1; id < tree->test_count; id++) {
        pst_test *test = &tree->tests[id];
        free_test_trits(tree, id);
        if (test->bounds != NULL) {
            tm_ordered_free(&test->bounds->low, tree->memory);
            tm_ordered_free(&test->bounds->high, tree->memory);
            TM_DELETE(tree->memory, TM_HOT, test->bounds, pst_bounds, 1);
        }
    }
    TM_DELETE(tree->memory, TM_HOT, tree->hubs, pst_hub, tree->hub_capacity);
    TM_DELETE(tree->memory, TM_HOT, tree->tests, pst_test, tree->test_capacity);
    TM_DELETE(tree->memory, TM_HOT, tree->seats, pst_seat, tree->seat_capacity);
    TM_DELETE(tree->memory, TM_HOT, tree->seated, uint32_t, tree->seated_capacity);
    TM_DELETE(tree->memory, TM_HOT, tree->sure_hubs, pst_trits, tree->sure_hub_capacity);
    TM_DELETE(tree->memory, TM_HOT, tree->sure_tests, pst_trits, tree->sure_test_capacity);
    tm_idset_free(&tree->hub_ids, tree->memory, TM_HOT);
    tm_idset_free(&tree->test_ids, tree->memory, TM_HOT);
    pst_factor_free(&tree->factor);
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
    uint64_t sets = (uint64_t)(pst_trit_sets(tree) - 1) * sizeof(pst_trits) *
                    (uint64_t)(tree->hub_ids.count + tree->test_ids.count);
    return sets + tree->filters * sizeof *tree->seated + tree->taken_seats * sizeof(pst_seat) +
           tree->hub_ids.count * HUB_BYTES + tree->test_ids.count * TEST_BYTES + tree->bounded * BOUND_BYTES +
           tree->with_bounds * BOUNDS_BYTES + tree->room.bytes + labels->ids.count * LABEL_BYTES + labels->block_bytes +
           labels->names.ids.count * NAME_BYTES + labels->names.text_bytes;
}
