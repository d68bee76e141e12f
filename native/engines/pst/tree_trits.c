/* tree_trits.c - the positions of the nodes of the tree. Law: see tree_trits.h. */
#include "engines/pst/tree_trits.h"

static bool hub_is_entitled(const pst_tree *tree, const pst_hub *hub, uint32_t position) {
    for (uint32_t at = hub->here; at != 0; at = tree->seats[at - 1].next) {
        if (pst_position_of(tree, at - 1) == position) {
            return true;
        }
    }
    for (int list = 0; list < 2; list++) {
        for (uint32_t at = hub->first[list]; at != PST_NONE; at = tree->tests[at].next) {
            if (pst_trits_has(&tree->tests[at].trits, position)) {
                return true;
            }
        }
    }
    return false;
}

static bool test_is_entitled(const pst_tree *tree, const pst_test *test, uint32_t position) {
    for (int list = 0; list < PST_LISTS; list++) {
        for (uint32_t at = test->first[list]; at != PST_NONE; at = tree->hubs[at].next) {
            if (pst_trits_has(&tree->hubs[at].trits, position)) {
                return true;
            }
        }
    }
    return false;
}

static void count_trits(const pst_trits *trits, uint32_t *counts) {
    if (trits->words == NULL) {
        if (trits->single != PST_POSITION_NONE) {
            counts[trits->single]++;
        }
        return;
    }
    for (uint32_t word = 0; word < trits->capacity; word++) {
        for (uint64_t bits = trits->words[word]; bits != 0; bits &= bits - 1) {
            counts[word * 64 + (uint32_t)__builtin_ctzll(bits)]++;
        }
    }
}

static void count_hub(const pst_tree *tree, const pst_hub *hub) {
    for (uint32_t at = hub->here; at != 0; at = tree->seats[at - 1].next) {
        hub->trits.counts[pst_position_of(tree, at - 1)]++;
    }
    for (int list = 0; list < 2; list++) {
        for (uint32_t at = hub->first[list]; at != PST_NONE; at = tree->tests[at].next) {
            count_trits(&tree->tests[at].trits, hub->trits.counts);
        }
    }
}

static void count_test(const pst_tree *tree, const pst_test *test) {
    for (int list = 0; list < PST_LISTS; list++) {
        for (uint32_t at = test->first[list]; at != PST_NONE; at = tree->hubs[at].next) {
            count_trits(&tree->hubs[at].trits, test->trits.counts);
        }
    }
}

static int reserve_hub(pst_tree *tree, pst_hub *hub, uint32_t position) {
    bool had = hub->trits.counts != NULL;
    bool counted = pst_children(hub) >= PST_COUNTED_FROM;
    int result = pst_trits_reserve(&hub->trits, &tree->room, position, counted);
    if (!had && hub->trits.counts != NULL) {
        count_hub(tree, hub);
    }
    return result;
}

static int reserve_test(pst_tree *tree, pst_test *test, uint32_t position) {
    bool had = test->trits.counts != NULL;
    bool counted = test->hubs >= PST_COUNTED_FROM;
    int result = pst_trits_reserve(&test->trits, &tree->room, position, counted);
    if (!had && test->trits.counts != NULL) {
        count_test(tree, test);
    }
    return result;
}

int pst_tree_reserve_trits(pst_tree *tree, uint32_t hub, uint32_t position) {
    int result = tree->annotated ? reserve_hub(tree, &tree->hubs[hub], position) : TM_OK;
    while (tree->annotated && result == TM_OK && hub != PST_ROOT) {
        pst_test *test = &tree->tests[tree->hubs[hub].test];
        hub = test->hub;
        result = reserve_test(tree, test, position);
        result = result == TM_OK ? reserve_hub(tree, &tree->hubs[hub], position) : result;
    }
    return result;
}

/* Add a position that a child has gained. Returns whether the node has gained it, too. */
static bool gain(pst_trits *trits, uint32_t position) {
    if (trits->counts != NULL) {
        trits->counts[position]++;
    }
    if (pst_trits_has(trits, position)) {
        return false;
    }
    pst_trits_set(trits, position);
    return true;
}

void pst_tree_gain(pst_tree *tree, uint32_t hub, uint32_t position) {
    while (gain(&tree->hubs[hub].trits, position) && hub != PST_ROOT) {
        pst_test *test = &tree->tests[tree->hubs[hub].test];
        if (!gain(&test->trits, position)) {
            return;
        }
        hub = test->hub;
    }
}

static bool lose_at_hub(pst_tree *tree, pst_hub *hub, uint32_t position) {
    pst_trits *trits = &hub->trits;
    if (trits->counts != NULL ? --trits->counts[position] > 0 : hub_is_entitled(tree, hub, position)) {
        return false;
    }
    pst_trits_clear(trits, position);
    return true;
}

static bool lose_at_test(pst_tree *tree, pst_test *test, uint32_t position) {
    pst_trits *trits = &test->trits;
    if (trits->counts != NULL ? --trits->counts[position] > 0 : test_is_entitled(tree, test, position)) {
        return false;
    }
    pst_trits_clear(trits, position);
    return true;
}

void pst_tree_lose(pst_tree *tree, uint32_t hub, uint32_t position) {
    while (lose_at_hub(tree, &tree->hubs[hub], position) && hub != PST_ROOT) {
        pst_test *test = &tree->tests[tree->hubs[hub].test];
        if (!lose_at_test(tree, test, position)) {
            return;
        }
        hub = test->hub;
    }
}

void pst_tree_relax(pst_tree *tree, pst_trits *trits, uint32_t children) {
    if (trits->counts != NULL && children <= PST_COUNTED_TO) {
        pst_trits_forget_counts(trits, &tree->room);
    }
}
