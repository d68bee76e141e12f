/* tree_validate.c - checks the invariants of tree.h node by node. */
#include "engines/pst/tree.h"

/* The counts of the check, in memory that is not the table's. */
typedef struct check {
    const pst_tree *tree;
    const char **reason;
    tm_memory own;
    uint32_t *labels;   /* by id: hubs that refer to it */
    uint32_t *speaking; /* by name: filters that have it */
    uint32_t *counts;   /* by position: children of the present node */
    uint64_t hubs;
    uint64_t tests;
    uint64_t bounds;
} check;

static int fail(const check *at, const char *why) {
    *at->reason = why;
    return TM_MISUSED;
}

/* ---- trits ---- */

static void add_trits(uint32_t *counts, const pst_trits *trits) {
    for (uint32_t position = 0; position < PST_POSITIONS; position++) {
        counts[position] += pst_trits_has(trits, position);
    }
}

/* Check trits against `counts` of all children, and clear those. */
static int check_trits(check *at, const pst_trits *trits, uint32_t children) {
    bool same = !at->tree->annotated || trits->counts != NULL || children <= PST_COUNTED_FROM;
    for (uint32_t position = 0; position < PST_POSITIONS && at->tree->annotated; position++) {
        same &= pst_trits_has(trits, position) == (at->counts[position] > 0);
        bool has_room = trits->counts != NULL && position < trits->capacity * 64U;
        same &= !has_room || trits->counts[position] == at->counts[position];
        at->counts[position] = 0;
    }
    return same ? TM_OK : fail(at, "the trits of a node are not those of its children");
}

/* ---- filters ---- */

static int check_seat(check *at, uint32_t hub, uint32_t handle) {
    const pst_tree *tree = at->tree;
    const pst_seat *seat = &tree->seats[handle];
    if (seat->hub != hub || !tm_holders_is_live(tree->holders, handle)) {
        return fail(at, "a filter is not where it ends, or without a handle");
    }
    if (seat->next != 0 && tree->seats[seat->next - 1].previous != handle + 1) {
        return fail(at, "the filters of a hub are not linked both ways");
    }
    uint32_t ids[TM_CONSTRAINTS_MAX];
    uint32_t count = pst_tree_path(tree, handle, ids);
    for (uint32_t i = 0; i < count; i++) {
        at->speaking[tree->labels.rows[ids[i]].name]++;
    }
    at->counts[pst_position(tm_holders_interface(tree->holders, handle))]++;
    return TM_OK;
}

/* ---- nodes ---- */

static int check_hub(check *at, uint32_t id) {
    const pst_tree *tree = at->tree;
    const pst_hub *hub = &tree->hubs[id];
    uint32_t filters = 0;
    uint32_t tests = 0;
    for (uint32_t seat = hub->here; seat != 0; seat = tree->seats[seat - 1].next, filters++) {
        if (check_seat(at, id, seat - 1) != TM_OK) {
            return TM_MISUSED;
        }
    }
    for (int list = 0; list < 2; list++) {
        for (uint32_t test = hub->first[list]; test != PST_NONE; test = tree->tests[test].next, tests++) {
            const pst_test *row = &tree->tests[test];
            if (row->hub != id || (row->lacking > 0) != list || pst_tree_test(tree, id, row->name) != test) {
                return fail(at, "a test is in the wrong list, or not found under its name");
            }
            add_trits(at->counts, &row->trits);
        }
    }
    if (filters != hub->filters || tests != hub->tests || (id != PST_ROOT && filters + tests == 0)) {
        return fail(at, "a hub leads nowhere, or counts wrong");
    }
    return check_trits(at, &hub->trits, filters + tests);
}

/* true if a path has at most one test for a name. */
static bool name_is_new(const pst_tree *tree, const pst_test *test) {
    for (uint32_t hub = test->hub; hub != PST_ROOT; hub = tree->tests[tree->hubs[hub].test].hub) {
        if (tree->tests[tree->hubs[hub].test].name == test->name) {
            return false;
        }
    }
    return true;
}

static int check_test(check *at, uint32_t id) {
    const pst_tree *tree = at->tree;
    const pst_test *test = &tree->tests[id];
    uint32_t hubs = 0;
    uint32_t lacking = 0;
    uint64_t bounded = 0;
    for (int list = 0; list < PST_LISTS; list++) {
        for (uint32_t hub = test->first[list]; hub != PST_NONE; hub = tree->hubs[hub].next, hubs++) {
            const pst_hub *row = &tree->hubs[hub];
            const pst_label *label = &tree->labels.rows[row->label];
            if (row->test != id || pst_tree_hub(tree, id, row->label) != hub || label->name != test->name) {
                return fail(at, "a hub is not found under its label");
            }
            at->labels[row->label]++;
            lacking += label->lacks;
            bounded += list == PST_LIST_BOUNDED;
            add_trits(at->counts, &row->trits);
        }
    }
    uint64_t stored =
        test->bounds != NULL ? tm_ordered_count(&test->bounds->low) + tm_ordered_count(&test->bounds->high) : 0;
    if (hubs == 0 || hubs != test->hubs || lacking != test->lacking || bounded != stored || !name_is_new(tree, test)) {
        return fail(at, "a test leads nowhere, counts wrong, or repeats a test");
    }
    if (test->bounds != NULL && (tm_ordered_validate(&test->bounds->low, NULL, at->reason) != TM_OK ||
                                 tm_ordered_validate(&test->bounds->high, NULL, at->reason) != TM_OK)) {
        return TM_MISUSED;
    }
    return check_trits(at, &test->trits, hubs);
}

static int check_nodes(check *at) {
    const pst_tree *tree = at->tree;
    int result = TM_OK;
    for (uint32_t id = PST_ROOT; id < tree->hub_count && result == TM_OK; id++) {
        bool is_there = id == PST_ROOT || tree->hubs[id].test != PST_NONE;
        result = is_there ? check_hub(at, id) : TM_OK;
        at->hubs += is_there;
    }
    for (uint32_t id = 1; id < tree->test_count && result == TM_OK; id++) {
        bool is_there = tree->tests[id].hub != PST_NONE;
        result = is_there ? check_test(at, id) : TM_OK;
        at->tests += is_there;
    }
    bool counted = at->hubs == tree->hub_ids.count + 1U && at->tests == tree->test_ids.count;
    return result == TM_OK && !counted ? fail(at, "the hashes have a wrong number of nodes") : result;
}

static int check_names(check *at) {
    const pst_labels *labels = &at->tree->labels;
    for (uint32_t name = 1; name < pst_labels_names(labels); name++) {
        if (labels->of_names[name].filters != at->speaking[name]) {
            return fail(at, "a name counts its filters wrongly");
        }
    }
    return pst_labels_validate(labels, at->labels, at->reason);
}

int pst_tree_validate(const pst_tree *tree, const char **reason) {
    check at = {.tree = tree, .reason = reason};
    at.labels = TM_NEW(&at.own, TM_COLD, uint32_t, tree->labels.count);
    at.speaking = TM_NEW(&at.own, TM_COLD, uint32_t, tree->labels.names.count + 1);
    at.counts = TM_NEW(&at.own, TM_COLD, uint32_t, PST_POSITIONS);
    bool has_room = at.labels != NULL && at.speaking != NULL && at.counts != NULL;
    int result = has_room ? check_nodes(&at) : TM_NO_MEMORY;
    result = result == TM_OK ? check_names(&at) : result;
    TM_DELETE(&at.own, TM_COLD, at.labels, uint32_t, tree->labels.count);
    TM_DELETE(&at.own, TM_COLD, at.speaking, uint32_t, tree->labels.names.count + 1);
    TM_DELETE(&at.own, TM_COLD, at.counts, uint32_t, PST_POSITIONS);
    return result;
}
