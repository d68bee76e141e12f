/* descend.c - the path of a filter into opened buckets, one test a step.
 *
 * Law: a filter goes behind an opened bucket if it has an equality or a pattern left. Where the node has no room for
 * another fork by value it goes by the name of such a test, or of any other test if few messages have that name;
 * otherwise it goes behind a guard of the node that it implies. A filter without any of these stays in the opened
 * bucket.
 */
#include "engines/onepath/placing/descend.h"

#include "engines/onepath/cost/choose.h"
#include "engines/onepath/cost/selectivity.h"
#include "engines/onepath/cost/similar.h"
#include "engines/onepath/paths/branch_walk.h"
#include "engines/onepath/paths/bucket_keys.h"
#include "engines/onepath/paths/guards.h"

#define NAME_SELECTIVITY_MAX 0.25 /* a name that more messages have than this is not selective */
#define NEW_FORK_COSTS 4.0        /* factor: every message that reaches the node makes one more probe */

/* A possible next step of a filter: by tests[test]; `branch` is 0 where there is no fork for it yet. */
typedef struct step {
    uint32_t test; /* ONEPATH_NONE: no step */
    uint32_t what;
    uint32_t branch;
    double selectivity;
} step;

static onepath_fork_by fork_of_test(onepath_test test) {
    return onepath_test_op(test) == ONEPATH_PATTERN ? ONEPATH_FORK_PATTERN : ONEPATH_FORK_VALUE;
}

static uint32_t what_of_test(const tm_engine *engine, onepath_test test) {
    return onepath_fork_what(onepath_test_name(test), onepath_kind_of(engine, test), fork_of_test(test));
}

static const onepath_fork *find_fork(const onepath_node *node, uint32_t what) {
    for (uint32_t i = 0; i < node->count; i++) {
        if (node->forks[i].what == what) {
            return &node->forks[i];
        }
    }
    return NULL;
}

/* Return the first test that the next step may go by: the access test only where it was not made yet. */
static uint32_t first_of(const onepath_stand *stand) {
    return stand->place == ONEPATH_IN_NAMED ? 0 : 1;
}

/* true if a filter cannot go on from its access test: an `in`, which has several buckets. */
static bool is_last(const onepath_tests *tests, const onepath_stand *stand) {
    return stand->place == ONEPATH_IN_BUCKET && onepath_test_op(tests->tests[0]) == ONEPATH_COMPLEX;
}

/* ---- the next step ---- */

/* Estimates for a filter on its path, computed where the first step needs them. */
typedef struct outlook {
    uint64_t from;           /* the key of an opened bucket from which similar filters are to be searched; 0: none */
    bool is_told;            /* `similar` was searched and is used for the rest of the path */
    onepath_similar similar; /* similar filters further on */
    uint32_t count;
    struct {
        onepath_test test;
        double selectivity;
    } known[ONEPATH_TESTS_MAX]; /* of its tests, independent of the path */
} outlook;

static double selectivity_of(const tm_engine *engine, onepath_test test, outlook *out) {
    for (uint32_t i = 0; i < out->count; i++) {
        if (out->known[i].test == test) {
            return out->known[i].selectivity;
        }
    }
    bool opened;
    double selectivity = onepath_selectivity_of_bucket(engine, test, &opened);
    if (out->count < ONEPATH_TESTS_MAX) {
        out->known[out->count].test = test;
        out->known[out->count++].selectivity = selectivity;
    }
    return selectivity;
}

/* Return the similar filters further on, if their share may raise the selectivity estimate of a test. */
static const onepath_similar *similar_of(const tm_engine *engine, const onepath_tests *tests, outlook *out) {
    double lowest = ONEPATH_NEVER;
    for (uint32_t i = 0; out->from != 0 && i < tests->count; i++) {
        double selectivity =
            onepath_has_bucket(engine, tests->tests[i]) ? selectivity_of(engine, tests->tests[i], out) : ONEPATH_NEVER;
        lowest = selectivity < lowest ? selectivity : lowest;
    }
    if (out->from != 0) {
        onepath_similar_find(engine, out->from, tests, lowest, &out->similar);
        out->is_told = out->similar.count > 0 || out->similar.share < lowest;
        out->from = 0;
    }
    return &out->similar;
}

/* Return the step by the value of a test that has a bucket; `full_bucket` is the bucket behind its fork, where there is
 * a fork and the test has one bucket. */
static step step_by_value(const tm_engine *engine, const onepath_fork *fork, const onepath_full_bucket *full_bucket,
                          const onepath_tests *tests, uint32_t at, double other, outlook *out) {
    onepath_test test = tests->tests[at];
    step next = {at, what_of_test(engine, test), 0, selectivity_of(engine, test, out)};
    if (fork == NULL) {
        double share = onepath_similar_share(similar_of(engine, tests, out), test);
        next.selectivity = onepath_selectivity_at_least(engine, test, next.selectivity, share) * NEW_FORK_COSTS;
        return next;
    }
    next.branch = fork->branch;
    if (onepath_test_op(test) != ONEPATH_COMPLEX) {
        uint32_t with = full_bucket->entries + onepath_filters_behind(&engine->buckets, full_bucket->opened);
        next.selectivity =
            onepath_selectivity_by_share(next.selectivity, with, engine->branches.rows[fork->branch].filters);
        next.selectivity =
            full_bucket->opened != NULL ? onepath_selectivity_behind(next.selectivity, other) : next.selectivity;
    }
    return next;
}

static step step_by_name(const tm_engine *engine, const onepath_node *node, const onepath_tests *tests, uint32_t at) {
    onepath_test test = tests->tests[at];
    step next = {at, onepath_fork_what(0, 0, ONEPATH_FORK_NAME), 0, 0};
    const onepath_fork *fork = find_fork(node, next.what);
    next.branch = fork == NULL ? 0 : fork->branch;
    next.selectivity = onepath_selectivity_of_name(engine, onepath_test_name(test), onepath_kind_of(engine, test));
    next.selectivity *= fork == NULL ? NEW_FORK_COSTS : 1.0;
    return next;
}

/* true if this name was used by a step on the path so far. */
static bool is_known_name(const tm_engine *engine, const onepath_stand *stand, const onepath_tests *tests,
                          onepath_test like) {
    uint32_t name = onepath_test_name(like) << 2 | onepath_kind_of(engine, like);
    onepath_test here = tests->tests[0];
    if (stand->place == ONEPATH_IN_NAMED && (onepath_test_name(here) << 2 | onepath_kind_of(engine, here)) == name) {
        return true;
    }
    uint64_t key;
    for (uint32_t branch = stand->branch; branch != 0; branch = onepath_key_branch(key)) {
        key = engine->branches.rows[branch].parent;
        if (onepath_key_tag(key) == ONEPATH_BY_NAME && (uint32_t)key == name) {
            return true;
        }
    }
    return false;
}

/* true if a step by the name of the test is needed, as there is no room for a fork by value, or selective enough. */
static bool goes_by_name(const tm_engine *engine, const onepath_stand *stand, const onepath_tests *tests,
                         onepath_test test, bool must) {
    unsigned kind = onepath_kind_of(engine, test);
    return !onepath_test_negated(test) && kind != ONEPATH_ANY &&
           (must || (onepath_selectivity_of_name(engine, onepath_test_name(test), kind) <= NAME_SELECTIVITY_MAX &&
                     !is_known_name(engine, stand, tests, test)));
}

/* Return the best step by name. `must`: the filter has a bucket to go by, but the node has no room for it. */
static step best_by_name(const tm_engine *engine, const onepath_node *node, const onepath_tests *tests,
                         const onepath_stand *stand, bool must) {
    step best = {ONEPATH_NONE, 0, 0, ONEPATH_NEVER};
    for (uint32_t at = first_of(stand); at < tests->count - stand->implied; at++) {
        onepath_test test = tests->tests[at];
        if (goes_by_name(engine, stand, tests, test, must && onepath_has_bucket(engine, test))) {
            step next = step_by_name(engine, node, tests, at);
            best = next.selectivity < best.selectivity ? next : best;
        }
    }
    return best;
}

/* Return the step behind the guard with most filters that the filter implies. */
static step best_by_guard(const tm_engine *engine, const onepath_node *node, const onepath_tests *tests,
                          const onepath_stand *stand) {
    step best = {ONEPATH_NONE, 0, 0, ONEPATH_NEVER};
    uint32_t most = 0;
    onepath_test before = onepath_guard_before(engine, stand);
    for (uint32_t at = first_of(stand); node->guards > 0 && at < tests->count - stand->implied; at++) {
        const onepath_fork *fork = tests->tests[at] == before ? NULL : onepath_guard_of(engine, node, tests->tests[at]);
        uint32_t filters = fork == NULL ? 0 : engine->branches.rows[fork->branch].filters + 1;
        if (filters > most) {
            most = filters;
            best = (step){at, fork->what, fork->branch, 0};
        }
    }
    return best;
}

/* What the tests from `first` to `end` may go by: the fork for each, and how full the bucket behind it is. */
typedef struct prospects {
    const onepath_fork *forks[ONEPATH_TESTS_MAX];
    onepath_full_bucket full_buckets[ONEPATH_TESTS_MAX]; /* of the forks that lead to one bucket, in their order */
} prospects;

static void find_prospects(const tm_engine *engine, const onepath_node *node, const onepath_tests *tests,
                           uint32_t first, uint32_t end, prospects *found) {
    uint64_t keys[ONEPATH_TESTS_MAX];
    uint32_t count = 0;
    for (uint32_t at = first; at < end; at++) {
        onepath_test test = tests->tests[at];
        const onepath_fork *fork =
            onepath_has_bucket(engine, test) ? find_fork(node, what_of_test(engine, test)) : NULL;
        found->forks[at] = fork;
        if (fork != NULL && onepath_test_op(test) != ONEPATH_COMPLEX) {
            onepath_bucket_keys(engine, ONEPATH_IN_BUCKET, fork->branch, test, &keys[count++]);
            __builtin_prefetch(&engine->branches.rows[fork->branch]);
        }
    }
    onepath_full_buckets(&engine->buckets, keys, count, found->full_buckets);
}

/* Return the best step by value, without those that the node has neither a fork nor room for. As in choose.c, of
 * several equally good steps it is the one of the oldest name. */
static step best_by_value(const tm_engine *engine, const onepath_node *node, const onepath_tests *tests,
                          const onepath_stand *stand, outlook *out, bool *no_room) {
    step best = {ONEPATH_NONE, 0, 0, ONEPATH_NEVER};
    double lowest = ONEPATH_NEVER;
    uint32_t end = tests->count - stand->implied;
    prospects found;
    find_prospects(engine, node, tests, first_of(stand), end, &found);
    const onepath_full_bucket *full_bucket = found.full_buckets;
    for (uint32_t at = first_of(stand); at < end; at++) {
        if (!onepath_has_bucket(engine, tests->tests[at])) {
            continue;
        }
        const onepath_fork *fork = found.forks[at];
        if (fork == NULL && (uint32_t)(node->count - node->guards) >= ONEPATH_FORKS_MAX) {
            *no_room = true;
            continue;
        }
        step next = step_by_value(engine, fork, full_bucket, tests, at, lowest < 1.0 ? lowest : 1.0, out);
        full_bucket += fork != NULL && onepath_test_op(tests->tests[at]) != ONEPATH_COMPLEX;
        lowest = next.selectivity < lowest ? next.selectivity : lowest;
        bool is_older = best.test == ONEPATH_NONE || tests->tests[at] < tests->tests[best.test];
        bool is_better = next.selectivity * (is_older ? 1.0 : ONEPATH_AS_GOOD) <
                         best.selectivity * (is_older ? ONEPATH_AS_GOOD : 1.0);
        best = is_better ? next : best;
    }
    return best;
}

static step next_step(const tm_engine *engine, const onepath_node *node, const onepath_tests *tests,
                      const onepath_stand *stand, outlook *out) {
    bool no_room = false;
    step best = best_by_value(engine, node, tests, stand, out, &no_room);
    best = best.test == ONEPATH_NONE ? best_by_name(engine, node, tests, stand, no_room) : best;
    return best.test == ONEPATH_NONE ? best_by_guard(engine, node, tests, stand) : best;
}

/* ---- the path ---- */

/* Make tests[next.test] the access test; the previous one is implied where it was found by its value. */
static void advance(onepath_tests *tests, onepath_stand *stand, const step *next) {
    uint32_t at = next->test;
    if (stand->place == ONEPATH_IN_BUCKET) {
        uint32_t last = tests->count - stand->implied - 1;
        onepath_swap_tests(tests, 0, last);
        at = at == last ? 0 : at;
        stand->implied++;
    }
    onepath_swap_tests(tests, 0, at);
    onepath_fork_by by = onepath_fork_goes_by(next->what);
    stand->place = by == ONEPATH_FORK_NAME || by == ONEPATH_FORK_TEST ? ONEPATH_IN_NAMED : ONEPATH_IN_BUCKET;
    stand->branch = next->branch;
}

static uint32_t make_branch(tm_engine *engine, uint64_t parent, uint32_t what) {
    uint32_t branch = onepath_branches_take(&engine->branches, parent, what, ONEPATH_NO_TEST);
    if (branch != 0 &&
        !onepath_buckets_add_fork(&engine->buckets, parent,
                                  (onepath_fork){.branch = branch & (ONEPATH_BRANCHES_MAX - 1), .what = what})) {
        onepath_branches_give(&engine->branches, branch);
        return 0;
    }
    return branch;
}

bool onepath_descend(tm_engine *engine, onepath_tests *tests, onepath_stand *stand) {
    uint32_t begin = stand->branch;
    outlook out;
    out.from = 0;
    out.is_told = false;
    out.similar.count = 0;
    out.count = 0;
    for (uint32_t depth = onepath_branch_depth(engine, begin); depth < ONEPATH_DEPTH_MAX && !is_last(tests, stand);
         depth++) {
        uint64_t key;
        onepath_bucket_keys(engine, stand->place, stand->branch, tests->tests[0], &key);
        const onepath_slot *opened = onepath_bucket_is_full(&engine->buckets, key).opened;
        if (opened == NULL) {
            break;
        }
        out.from = out.is_told || out.from != 0 ? out.from : key;
        step next = next_step(engine, onepath_slot_node(&engine->buckets, opened), tests, stand, &out);
        if (next.test == ONEPATH_NONE) {
            break;
        }
        next.branch = next.branch != 0 ? next.branch : make_branch(engine, key, next.what);
        if (next.branch == 0) {
            onepath_branches_count(engine, stand->branch, begin, 0);
            return false;
        }
        advance(tests, stand, &next);
    }
    onepath_order_tests(engine, tests, 1, tests->count - stand->implied);
    return true;
}

bool onepath_can_descend(const tm_engine *engine, const onepath_tests *tests, const onepath_stand *stand) {
    if (is_last(tests, stand) || !onepath_may_go_on(engine, stand)) {
        return false;
    }
    for (uint32_t at = first_of(stand); at < tests->count - stand->implied; at++) {
        if (onepath_has_bucket(engine, tests->tests[at])) {
            return true;
        }
    }
    return false;
}
