/* tree_trits.c - the positions of the nodes of the tree. Law: see tree_trits.h. */
#include "engines/pst/tree_trits.h"

#include "base/grow.h"

int pst_tree_reserve_sure(pst_tree *tree, uint32_t hubs, uint32_t tests) {
    bool has_room =
        tree->factor.keys == 0 ||
        (tm_grow(tree->memory, TM_HOT, &tree->sure_hubs, sizeof *tree->sure_hubs, &tree->sure_hub_capacity, hubs) &&
         tm_grow(tree->memory, TM_HOT, &tree->sure_tests, sizeof *tree->sure_tests, &tree->sure_test_capacity, tests));
    return has_room ? TM_OK : TM_NO_MEMORY;
}

/* ---- what children entitle to ---- */

static bool hub_is_entitled(const pst_tree *tree, uint32_t hub, pst_trit_set set, uint32_t position) {
    for (uint32_t at = tree->hubs[hub].here; at != PST_NONE; at = tree->seats[at].next) {
        if (pst_position_of(tree, at) == position) {
            return true;
        }
    }
    for (int list = 0; list < 2; list++) {
        for (uint32_t at = tree->hubs[hub].first[list]; at != PST_NONE; at = tree->tests[at].next) {
            if (pst_trits_has(pst_test_trits(tree, at, set), position)) {
                return true;
            }
        }
    }
    return false;
}

/* true if each value that the name may have leads to a hub that is sure: all equalities are of such values */
static bool is_sure_of_all(const pst_tree *tree, const pst_test *test, uint32_t position) {
    uint32_t sure = 0;
    for (uint32_t at = test->first[PST_LIST_EQUAL]; at != PST_NONE; at = tree->hubs[at].next) {
        if (!pst_trits_has(&tree->sure_hubs[at], position)) {
            return false;
        }
        sure++;
    }
    return sure == test->values && sure > 0;
}

static bool test_is_entitled(const pst_tree *tree, uint32_t id, pst_trit_set set, uint32_t position) {
    const pst_test *test = &tree->tests[id];
    if (set == PST_SURE) {
        return is_sure_of_all(tree, test, position);
    }
    for (int list = 0; list < PST_LISTS; list++) {
        for (uint32_t at = test->first[list]; at != PST_NONE; at = tree->hubs[at].next) {
            if (pst_trits_has(&tree->hubs[at].some, position)) {
                return true;
            }
        }
    }
    return false;
}

/* ---- counts ---- */

static void count_trits(const pst_trits *trits, uint32_t *counts) {
    for (uint32_t word = 0; word < PST_POSITION_WORDS; word++) {
        for (uint64_t bits = pst_trits_word(trits, word); bits != 0; bits &= bits - 1) {
            counts[word * 64 + (uint32_t)__builtin_ctzll(bits)]++;
        }
    }
}

static void count_hub(const pst_tree *tree, uint32_t hub, pst_trit_set set) {
    uint32_t *counts = pst_hub_trits(tree, hub, set)->counts;
    for (uint32_t at = tree->hubs[hub].here; at != PST_NONE; at = tree->seats[at].next) {
        counts[pst_position_of(tree, at)]++;
    }
    for (int list = 0; list < 2; list++) {
        for (uint32_t at = tree->hubs[hub].first[list]; at != PST_NONE; at = tree->tests[at].next) {
            count_trits(pst_test_trits(tree, at, set), counts);
        }
    }
}

static void count_test(const pst_tree *tree, const pst_test *test) {
    for (int list = 0; list < PST_LISTS; list++) {
        for (uint32_t at = test->first[list]; at != PST_NONE; at = tree->hubs[at].next) {
            count_trits(&tree->hubs[at].some, test->some.counts);
        }
    }
}

/* ---- room ---- */

static int reserve_hub(pst_tree *tree, uint32_t hub, pst_trit_set set, uint32_t position) {
    pst_trits *trits = pst_hub_trits(tree, hub, set);
    bool had = trits->counts != NULL;
    bool counted = pst_children(&tree->hubs[hub]) >= PST_COUNTED_FROM;
    int result = pst_trits_reserve(trits, &tree->room, position, counted);
    if (!had && trits->counts != NULL) {
        count_hub(tree, hub, set);
    }
    return result;
}

/* What a test is sure of is not counted: it asks as many hubs as there are values. */
static int reserve_test(pst_tree *tree, uint32_t id, pst_trit_set set, uint32_t position) {
    const pst_test *test = &tree->tests[id];
    pst_trits *trits = pst_test_trits(tree, id, set);
    bool had = trits->counts != NULL;
    bool counted = set == PST_SOME && test->hubs >= PST_COUNTED_FROM;
    int result = pst_trits_reserve(trits, &tree->room, position, counted);
    if (!had && trits->counts != NULL) {
        count_test(tree, test);
    }
    return result;
}

static int reserve(pst_tree *tree, uint32_t hub, pst_trit_set set, uint32_t position) {
    int result = reserve_hub(tree, hub, set, position);
    while (result == TM_OK && !pst_is_root(tree, hub)) {
        uint32_t test = tree->hubs[hub].test;
        hub = tree->tests[test].hub;
        result = reserve_test(tree, test, set, position);
        result = result == TM_OK ? reserve_hub(tree, hub, set, position) : result;
    }
    return result;
}

/* Return the number of sets that change with a filter at this hub: only trees of keys are sure. */
static int sets_at(const pst_tree *tree, uint32_t hub) {
    bool is_below_key = tree->factor.keys > 0 && pst_root_of(tree, hub) != PST_ROOT;
    return !tree->annotated ? 0 : is_below_key ? PST_TRIT_SETS : PST_SOME + 1;
}

int pst_tree_reserve_trits(pst_tree *tree, uint32_t hub, uint32_t position) {
    int result = TM_OK;
    int sets = sets_at(tree, hub);
    for (int set = 0; set < sets && result == TM_OK; set++) {
        result = reserve(tree, hub, (pst_trit_set)set, position);
    }
    return result;
}

/* ---- changes ---- */

/* Add a position that a child has gained. Returns whether the node has gained it, too. */
static bool gain_at(pst_trits *trits, uint32_t position) {
    if (trits->counts != NULL) {
        trits->counts[position]++;
    }
    if (pst_trits_has(trits, position)) {
        return false;
    }
    pst_trits_set(trits, position);
    return true;
}

static void gain(pst_tree *tree, uint32_t hub, pst_trit_set set, uint32_t position) {
    while (gain_at(pst_hub_trits(tree, hub, set), position) && !pst_is_root(tree, hub)) {
        uint32_t test = tree->hubs[hub].test;
        bool is_entitled = set == PST_SOME || is_sure_of_all(tree, &tree->tests[test], position);
        if (!is_entitled || !gain_at(pst_test_trits(tree, test, set), position)) {
            return;
        }
        hub = tree->tests[test].hub;
    }
}

void pst_tree_gain(pst_tree *tree, uint32_t hub, uint32_t position) {
    int sets = sets_at(tree, hub);
    for (int set = 0; set < sets; set++) {
        gain(tree, hub, (pst_trit_set)set, position);
    }
}

/* Remove a position that a child has lost, unless others entitle the node to it. Returns whether it is lost here. */
static bool lose_at_hub(pst_tree *tree, uint32_t hub, pst_trit_set set, uint32_t position) {
    pst_trits *trits = pst_hub_trits(tree, hub, set);
    if (trits->counts != NULL ? --trits->counts[position] > 0 : hub_is_entitled(tree, hub, set, position)) {
        return false;
    }
    pst_trits_clear(trits, position);
    return true;
}

static bool lose_at_test(pst_tree *tree, uint32_t test, pst_trit_set set, uint32_t position) {
    pst_trits *trits = pst_test_trits(tree, test, set);
    bool counted = trits->counts != NULL;
    bool stays = counted ? --trits->counts[position] > 0 : test_is_entitled(tree, test, set, position);
    if (stays || !pst_trits_has(trits, position)) {
        return false;
    }
    pst_trits_clear(trits, position);
    return true;
}

static void lose(pst_tree *tree, uint32_t hub, pst_trit_set set, uint32_t position) {
    while (lose_at_hub(tree, hub, set, position) && !pst_is_root(tree, hub)) {
        uint32_t test = tree->hubs[hub].test;
        if (!lose_at_test(tree, test, set, position)) {
            return;
        }
        hub = tree->tests[test].hub;
    }
}

void pst_tree_lose(pst_tree *tree, uint32_t hub, uint32_t position) {
    int sets = sets_at(tree, hub);
    for (int set = 0; set < sets; set++) {
        lose(tree, hub, (pst_trit_set)set, position);
    }
}

static void relax(pst_tree *tree, pst_trits *trits, uint32_t children) {
    if (trits->counts != NULL && children <= PST_COUNTED_TO) {
        pst_trits_forget_counts(trits, &tree->room);
    }
}

void pst_tree_relax_hub(pst_tree *tree, uint32_t hub) {
    for (int set = 0; set < pst_trit_sets(tree); set++) {
        relax(tree, pst_hub_trits(tree, hub, (pst_trit_set)set), pst_children(&tree->hubs[hub]));
    }
}

void pst_tree_relax_test(pst_tree *tree, uint32_t test) {
    for (int set = 0; set < pst_trit_sets(tree); set++) {
        relax(tree, pst_test_trits(tree, test, (pst_trit_set)set), tree->tests[test].hubs);
    }
}
