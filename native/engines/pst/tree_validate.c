/* tree_validate.c - checks the invariants of tree.h and seats.h node by node. */
#include "engines/pst/seats.h"
#include "engines/pst/tree_trits.h"

/* The counts of the check, in memory that is not the table's. */
typedef struct check {
    const pst_tree *tree;
    const char **reason;
    tm_memory own;
    uint32_t *labels;                /* by id: hubs that refer to it */
    uint32_t *speaking;              /* by name: filters that have it */
    uint32_t *counts[PST_TRIT_SETS]; /* by position: children of the present node */
    uint64_t counted[PST_TRIT_SETS]; /* words of positions that are not all 0 */
    uint64_t hubs;
    uint64_t tests;
    uint64_t seats;
} check;

static int fail(const check *at, const char *why) {
    *at->reason = why;
    return TM_MISUSED;
}

/* ---- trits ---- */

static void count_one(check *at, pst_trit_set set, uint32_t position) {
    at->counts[set][position]++;
    at->counted[set] |= UINT64_C(1) << position / 64;
}

static void add_trits(check *at, const pst_trits *trits, pst_trit_set set) {
    for (uint32_t word = 0; word < PST_POSITION_WORDS; word++) {
        for (uint64_t bits = pst_trits_word(trits, word); bits != 0; bits &= bits - 1) {
            count_one(at, set, word * 64 + (uint32_t)__builtin_ctzll(bits));
        }
    }
}

static bool word_is_of_children(check *at, const pst_trits *trits, pst_trit_set set, uint32_t needed, uint32_t word) {
    bool same = true;
    for (uint32_t position = word * 64; position < word * 64 + 64; position++) {
        uint32_t *children = &at->counts[set][position];
        bool has_room = trits->counts != NULL && position < trits->capacity * 64U;
        same &= pst_trits_has(trits, position) == (needed > 0 && *children >= needed);
        same &= !has_room || trits->counts[position] == *children;
        *children = 0;
    }
    return same;
}

/* Check one set against the counts of all children, and clear those. `needed`: children that must have a position. */
static bool is_of_children(check *at, const pst_trits *trits, pst_trit_set set, uint32_t needed) {
    bool same = true;
    for (uint32_t word = 0; word < PST_POSITION_WORDS; word++) {
        bool is_empty = pst_trits_word(trits, word) == 0 && (at->counted[set] >> word & 1) == 0;
        same &= (is_empty && trits->counts == NULL) || word_is_of_children(at, trits, set, needed, word);
    }
    at->counted[set] = 0;
    return same;
}

/* Check what a node may match. */
static int check_some(check *at, const pst_trits *trits, uint32_t children) {
    bool annotated = at->tree->annotated;
    bool same = !annotated || trits->counts != NULL || children <= PST_COUNTED_FROM;
    same &= is_of_children(at, trits, PST_SOME, annotated);
    return same ? TM_OK : fail(at, "a node may match others than its children");
}

/* Check what a node is sure of, if `needed` children have to be; 0: it never is. */
static int check_sure(check *at, const pst_trits *trits, uint32_t needed) {
    bool same = is_of_children(at, trits, PST_SURE, at->tree->annotated ? needed : 0);
    return same ? TM_OK : fail(at, "a node is sure of others than its children");
}

/* ---- filters ---- */

static int check_seat(check *at, uint32_t hub, uint32_t id) {
    const pst_tree *tree = at->tree;
    const pst_seat *seat = &tree->seats[id];
    if (seat->hub != hub || !tm_holders_is_live(tree->holders, seat->handle)) {
        return fail(at, "a filter is not where it ends, or without a handle");
    }
    if (seat->next != PST_NONE && tree->seats[seat->next].previous != id) {
        return fail(at, "the filters of a hub are not linked both ways");
    }
    uint32_t position = pst_position_of(tree, id);
    at->seats++;
    for (int set = 0; set < pst_trit_sets(tree); set++) {
        count_one(at, (pst_trit_set)set, position);
    }
    return TM_OK;
}

/* Check that the seats of a filter are one below each key that its labels allow, and the first in the whole tree. */
static int check_filter(check *at, uint32_t handle) {
    const pst_tree *tree = at->tree;
    uint32_t ids[TM_CONSTRAINTS_MAX];
    uint32_t count = pst_seats_path(tree, tree->seated[handle], ids);
    uint32_t seat = tree->seated[handle];
    bool same = tree->seats[seat].handle == handle && pst_root_of(tree, tree->seats[seat].hub) == PST_ROOT;
    seat = tree->seats[seat].other;
    for (uint32_t i = 0; i < count; i++) {
        at->speaking[tree->labels.rows[ids[i]].name]++;
    }
    for (uint32_t i = tree->factor.count; i-- > 0;) {
        const pst_space *space = &tree->factor.spaces[i];
        pst_share share;
        bool is_in = pst_factor_share(space, &tree->labels, ids, count, &share);
        for (uint32_t key = space->keys; is_in && key-- > 0;) {
            if (pst_share_allows(&share, space, key)) {
                uint32_t labels[TM_CONSTRAINTS_MAX];
                same = same && seat != PST_NONE && tree->seats[seat].handle == handle &&
                       pst_root_of(tree, tree->seats[seat].hub) == space->first + key &&
                       pst_seats_path(tree, seat, labels) == share.count;
                seat = seat != PST_NONE ? tree->seats[seat].other : seat;
            }
        }
    }
    return same && seat == PST_NONE ? TM_OK : fail(at, "a filter has not one seat for each key that it allows");
}

/* ---- nodes ---- */

static int check_hub(check *at, uint32_t id) {
    const pst_tree *tree = at->tree;
    const pst_hub *hub = &tree->hubs[id];
    uint32_t filters = 0;
    uint32_t tests = 0;
    for (uint32_t seat = hub->here; seat != PST_NONE; seat = tree->seats[seat].next, filters++) {
        if (check_seat(at, id, seat) != TM_OK) {
            return TM_MISUSED;
        }
    }
    for (int list = 0; list < 2; list++) {
        for (uint32_t test = hub->first[list]; test != PST_NONE; test = tree->tests[test].next, tests++) {
            const pst_test *row = &tree->tests[test];
            if (row->hub != id || (row->lacking > 0) != list || pst_tree_test(tree, id, row->name) != test) {
                return fail(at, "a test is in the wrong list, or not found under its name");
            }
            for (int set = 0; set < pst_trit_sets(tree); set++) {
                add_trits(at, pst_test_trits(tree, test, (pst_trit_set)set), (pst_trit_set)set);
            }
        }
    }
    if (filters != hub->filters || tests != hub->tests || (!pst_is_root(tree, id) && filters + tests == 0)) {
        return fail(at, "a hub leads nowhere, or counts wrong");
    }
    int result = check_some(at, &hub->some, filters + tests);
    bool is_below_key = pst_root_of(tree, id) != PST_ROOT;
    return result == TM_OK && tree->factor.keys > 0 ? check_sure(at, &tree->sure_hubs[id], is_below_key) : result;
}

/* true if a path has at most one test for a name. */
static bool name_is_new(const pst_tree *tree, const pst_test *test) {
    for (uint32_t hub = test->hub; !pst_is_root(tree, hub); hub = tree->tests[tree->hubs[hub].test].hub) {
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
    uint32_t equal = 0;
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
            equal += list == PST_LIST_EQUAL;
            add_trits(at, &row->some, PST_SOME);
            if (list == PST_LIST_EQUAL && tree->factor.keys > 0) {
                add_trits(at, &tree->sure_hubs[hub], PST_SURE);
            }
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
    int result = check_some(at, &test->some, hubs);
    uint32_t needed = equal == test->values ? equal : 0;
    return result == TM_OK && tree->factor.keys > 0 ? check_sure(at, &tree->sure_tests[id], needed) : result;
}

static int check_nodes(check *at) {
    const pst_tree *tree = at->tree;
    int result = TM_OK;
    for (uint32_t id = PST_ROOT; id < tree->hub_count && result == TM_OK; id++) {
        bool is_there = id < PST_ROOT + pst_roots(tree) || !pst_is_root(tree, id);
        result = is_there ? check_hub(at, id) : TM_OK;
        at->hubs += is_there;
    }
    for (uint32_t id = 1; id < tree->test_count && result == TM_OK; id++) {
        bool is_there = tree->tests[id].hub != PST_NONE;
        result = is_there ? check_test(at, id) : TM_OK;
        at->tests += is_there;
    }
    for (uint32_t handle = 0; handle < tree->handles && result == TM_OK; handle++) {
        result = tree->seated[handle] != PST_NONE ? check_filter(at, handle) : TM_OK;
    }
    bool counted = at->seats == tree->taken_seats && at->hubs == tree->hub_ids.count + pst_roots(tree) &&
                   at->tests == tree->test_ids.count;
    return result == TM_OK && !counted ? fail(at, "the tree has a wrong number of nodes or seats") : result;
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
    uint32_t *counts = TM_NEW(&at.own, TM_COLD, uint32_t, PST_TRIT_SETS *PST_POSITIONS);
    bool has_room = at.labels != NULL && at.speaking != NULL && counts != NULL;
    for (int set = 0; set < PST_TRIT_SETS && has_room; set++) {
        at.counts[set] = counts + (size_t)set * PST_POSITIONS;
    }
    int result = has_room ? check_nodes(&at) : TM_NO_MEMORY;
    result = result == TM_OK ? check_names(&at) : result;
    TM_DELETE(&at.own, TM_COLD, at.labels, uint32_t, tree->labels.count);
    TM_DELETE(&at.own, TM_COLD, at.speaking, uint32_t, tree->labels.names.count + 1);
    TM_DELETE(&at.own, TM_COLD, counts, uint32_t, PST_TRIT_SETS *PST_POSITIONS);
    return result;
}
