/* choose.c - chooses the access path that the fewest messages are expected to take.
 *
 * Law: the choice depends on the tests, on the selectivity of the possible places (selectivity.c) and on how full a
 * key's cells are; any choice is right, a good one is fast. It does not depend on the order of tests, except for ties.
 */
#include "engines/onepath/cost/choose.h"

#include "engines/onepath/cost/box_choice.h"
#include "engines/onepath/cost/selectivity.h"
#include "engines/onepath/cost/similar.h"
#include "engines/onepath/paths/bucket_keys.h"
#include "engines/onepath/paths/intervals.h"
#include "engines/onepath/paths/keys.h"
#include "engines/onepath/paths/lines.h"
#include "engines/onepath/paths/pair_entry.h"
#include "engines/onepath/records.h"
#include "engines/onepath/values/constants.h"

/* With more points than this on one key, equalities go to buckets and intervals to a run: an insertion moves all cells,
 * and a removal recomputes all those of its interface. */
#define CELL_POINTS_MAX 512U
#define CELL_INTERVAL_POINTS_MAX 2048U

#define SELECTIVITY_RANGE 0.5
#define STEP_OF_PAIR 0.5 /* cost of a read of a filter under a pair, relative to one behind an opened bucket */

#define STEP_OF_GUARD (1.0 / 64) /* cost of a guard that these share */
#define SIMILAR_TESTS 4U         /* tests with a bucket, nearly all shared, from which on filters gather early */
#define SIMILAR_IN_PAIR 4U       /* filters of a pair that are compared with one that may leave it */

/* ---- the choice ---- */

static bool fits_cells(const tm_engine *engine, const onepath_tests *tests) {
    onepath_span span;
    if (!onepath_only_span(engine, tests, &span)) {
        return false;
    }
    unsigned kind = onepath_kind_of(engine, tests->tests[0]);
    onepath_key *key = engine->names.records[onepath_test_name(tests->tests[0])].keys[kind];
    const onepath_key *part = key == NULL ? NULL : onepath_range_key(key, tests->tests[0]);
    uint32_t points = part == NULL ? 0 : part->cells.count;
    if (tests->count > 1) {
        return points < CELL_INTERVAL_POINTS_MAX;
    }
    return points < CELL_POINTS_MAX || onepath_test_op(tests->tests[0]) != ONEPATH_NUMBER_EQ;
}

/* true if a line may have the filter. Filters of interfaces with cells join a line, and begin none. */
static bool is_for_line(const tm_engine *engine, bool uses_cells, const onepath_tests *tests) {
    return !engine->scatters &&
           (uses_cells ? onepath_lines_has_open(engine, tests) : onepath_lines_take(engine, tests));
}

/* true if the tests are several bounds of one key. */
static bool is_interval(const tm_engine *engine, const onepath_tests *tests) {
    for (uint32_t i = 0; i < tests->count; i++) {
        onepath_test test = tests->tests[i];
        if (!onepath_is_bound(test) || onepath_test_name(test) != onepath_test_name(tests->tests[0]) ||
            onepath_kind_of(engine, test) != onepath_kind_of(engine, tests->tests[0]) ||
            onepath_order_of(engine, test) != onepath_order_of(engine, tests->tests[0])) {
            return false;
        }
    }
    return tests->count > 1;
}

static onepath_place choose_single(const tm_engine *engine, onepath_test test) {
    if (onepath_is_told_by_key(engine, test)) {
        return ONEPATH_IN_BUCKET_SINGLE;
    }
    return onepath_is_bound(test) ? ONEPATH_IN_RUN : ONEPATH_NONE_PLACE;
}

/* Move the two tests with the rarest distinct names of known kind to the front and return their selectivity, or
 * ONEPATH_NEVER. */
static double front_pair(const tm_engine *engine, onepath_tests *tests) {
    double selectivity[2] = {ONEPATH_NEVER, ONEPATH_NEVER};
    for (uint32_t rank = 0; rank < 2; rank++) {
        uint32_t best = ONEPATH_NONE;
        for (uint32_t i = rank; i < tests->count; i++) {
            onepath_test test = tests->tests[i];
            double chance = onepath_selectivity_of_name(engine, onepath_test_name(test), onepath_kind_of(engine, test));
            bool usable = !onepath_test_negated(test) && onepath_kind_of(engine, test) != ONEPATH_ANY &&
                          (rank == 0 || onepath_test_name(test) != onepath_test_name(tests->tests[0]));
            if (usable && chance < selectivity[rank]) {
                selectivity[rank] = chance;
                best = i;
            }
        }
        if (best == ONEPATH_NONE) {
            return ONEPATH_NEVER;
        }
        onepath_swap_tests(tests, rank, best);
    }
    return selectivity[0] * selectivity[1];
}

static void front_positive(const tm_engine *engine, onepath_tests *tests) {
    double rarest = ONEPATH_NEVER;
    for (uint32_t i = 0; i < tests->count; i++) {
        onepath_test test = tests->tests[i];
        double selectivity =
            onepath_selectivity_of_name(engine, onepath_test_name(test), onepath_kind_of(engine, test));
        if (!onepath_test_negated(test) && selectivity < rarest) {
            rarest = selectivity;
            onepath_swap_tests(tests, 0, i);
        }
    }
}

/* A possible bucket for a filter. */
typedef struct candidate {
    uint32_t test;      /* ONEPATH_NONE: no bucket */
    double selectivity; /* share of messages that reach it; behind it, if it is opened */
    double opened;      /* that share once it is opened */
    bool is_open;       /* it is opened */
} candidate;

/* Return the test with a bucket that messages are expected to satisfy most often; `usable` is how many have a bucket.
 * ONEPATH_NONE if fewer than two have one. */
static uint32_t commonest(const candidate *each, uint32_t count, uint32_t *usable) {
    uint32_t best = ONEPATH_NONE;
    *usable = 0;
    for (uint32_t i = 0; i < count; i++) {
        *usable += each[i].selectivity < ONEPATH_NEVER;
        bool is_more = each[i].selectivity < ONEPATH_NEVER &&
                       (best == ONEPATH_NONE || each[i].selectivity > each[best].selectivity);
        best = is_more ? i : best;
    }
    return *usable > 1 ? best : ONEPATH_NONE;
}

/* true if all similar filters have every test that has a bucket, and no other test has a name to go by. */
static bool share_all(const onepath_tests *tests, const candidate *each, const onepath_similar *similar) {
    bool all = true;
    for (uint32_t i = 0; i < tests->count && all; i++) {
        bool has_bucket = each[i].selectivity < ONEPATH_NEVER;
        all = has_bucket ? onepath_similar_share(similar, tests->tests[i]) >= 1 : onepath_test_negated(tests->tests[i]);
    }
    return all;
}

/* Raise the estimates of tests that most filters under the commonest test share: such a test adds no selectivity. */
static void weigh_what_is_shared(const tm_engine *engine, const onepath_tests *tests, candidate *each) {
    uint32_t usable;
    uint32_t base = commonest(each, tests->count, &usable);
    uint64_t key = base == ONEPATH_NONE ? 0 : onepath_bucket_of_test(tests->tests[base]);
    onepath_full_bucket full_bucket =
        key == 0 ? (onepath_full_bucket){0} : onepath_bucket_is_full(&engine->buckets, key);
    bool is_early = full_bucket.opened == NULL && full_bucket.entries < ONEPATH_SIMILAR_MIN;
    if (is_early && (full_bucket.entries < ONEPATH_SIMILAR_EARLY || usable < SIMILAR_TESTS)) {
        return;
    }
    double lowest = ONEPATH_NEVER; /* shares that cannot raise even this estimate are not searched for */
    for (uint32_t i = 0; i < tests->count; i++) {
        lowest = i != base && each[i].selectivity < lowest ? each[i].selectivity : lowest;
    }
    onepath_similar similar;
    onepath_similar_find(engine, key, tests, lowest / each[base].selectivity, &similar);
    if (is_early && !share_all(tests, each, &similar)) {
        return;
    }
    for (uint32_t i = 0; i < tests->count; i++) {
        if (i != base && each[i].selectivity < ONEPATH_NEVER) {
            double share = onepath_similar_share(&similar, tests->tests[i]) * each[base].selectivity;
            each[i].selectivity = onepath_selectivity_at_least(engine, tests->tests[i], each[i].selectivity, share);
        }
    }
}

/* Prefetch the slots of the buckets that the tests have. */
static void ask_buckets(const tm_engine *engine, const onepath_tests *tests) {
    uint64_t keys[ONEPATH_TESTS_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < tests->count; i++) {
        keys[count] = onepath_bucket_of_test(tests->tests[i]);
        count += keys[count] != 0;
    }
    onepath_buckets_ask(&engine->buckets, keys, count);
}

/* Return the bucket that messages reach least often. Of several that are equally good it is always the one of the
 * oldest name: filters that gather in shared buckets, and again behind those, are skipped together. */
static candidate rarest_bucket(const tm_engine *engine, const onepath_tests *tests) {
    candidate each[ONEPATH_TESTS_MAX];
    candidate best = {ONEPATH_NONE, ONEPATH_NEVER, ONEPATH_NEVER, false};
    double least[2] = {ONEPATH_NEVER, ONEPATH_NEVER};
    ask_buckets(engine, tests);
    for (uint32_t i = 0; i < tests->count; i++) {
        each[i].test = i;
        each[i].selectivity = onepath_selectivity_of_bucket(engine, tests->tests[i], &each[i].is_open);
    }
    weigh_what_is_shared(engine, tests, each);
    for (uint32_t i = 0; i < tests->count; i++) {
        double selectivity = each[i].selectivity;
        least[1] = selectivity < least[0] ? least[0] : selectivity < least[1] ? selectivity : least[1];
        least[0] = selectivity < least[0] ? selectivity : least[0];
    }
    double lowest = ONEPATH_NEVER;
    for (uint32_t i = 0; i < tests->count; i++) {
        each[i].opened =
            onepath_selectivity_behind(each[i].selectivity, each[i].selectivity == least[0] ? least[1] : least[0]);
        each[i].selectivity = each[i].is_open ? each[i].opened : each[i].selectivity;
        lowest = each[i].selectivity < lowest ? each[i].selectivity : lowest;
    }
    for (uint32_t i = 0; i < tests->count; i++) {
        bool is_as_good = each[i].selectivity < ONEPATH_NEVER && each[i].selectivity <= lowest * ONEPATH_AS_GOOD;
        bool is_older = best.test == ONEPATH_NONE || tests->tests[i] < tests->tests[best.test];
        best = is_as_good && is_older ? each[i] : best;
    }
    return best;
}

/* Return the number of filters under the pair of names in front. */
static uint32_t filters_of_pair(const tm_engine *engine, const onepath_tests *tests) {
    onepath_test home = tests->tests[0];
    onepath_test partner = tests->tests[1];
    uint64_t key = onepath_pair_key(onepath_test_name(home), onepath_kind_of(engine, home), onepath_test_name(partner),
                                    onepath_kind_of(engine, partner));
    uint32_t filters = onepath_bucket_is_full(&engine->buckets, key).entries;
    return key == engine->full_pair ? engine->full_pair_filters : filters;
}

/* true if the last filters of a pair all have the two tests in front. Behind a guard a match evaluates such a test
 * once. */
static bool are_similar(const tm_engine *engine, const onepath_tests *tests) {
    const onepath_slot *slot = onepath_buckets_find(&engine->buckets, onepath_pair_key_of(engine, tests));
    uint32_t count = slot == NULL ? 0 : slot->entry_count;
    if (count < SIMILAR_IN_PAIR || !onepath_pair_fits(tests)) {
        return false;
    }
    onepath_entry like = onepath_pair_entry(0, 0, tests);
    for (uint32_t i = 0; i < SIMILAR_IN_PAIR; i++) {
        const onepath_entry *entry = &onepath_slot_entries(&engine->buckets, slot)[count - 1 - i];
        if (entry->test != like.test || (entry->interface & ~ONEPATH_ENTRY_INTERFACE) != like.interface) {
            return false;
        }
    }
    return true;
}

/* true if the tests imply a guard behind the opened bucket. */
static bool is_awaited(const tm_engine *engine, const onepath_tests *tests, const candidate *bucket) {
    return bucket->is_open && onepath_similar_awaits(engine, onepath_bucket_of_test(tests->tests[bucket->test]), tests);
}

/* true if the filter is better in its bucket, where it can go on. A pair is never opened: every message that has both
 * names reads all its filters. */
static bool leaves_pair(const tm_engine *engine, const onepath_tests *tests, const candidate *bucket, double pair) {
    uint32_t filters = bucket->test == ONEPATH_NONE ? 0 : filters_of_pair(engine, tests);
    if (filters >= ONEPATH_FULL_BUCKET_MAX && bucket->opened < pair * SELECTIVITY_RANGE) {
        return true;
    }
    bool is_full = filters >= ONEPATH_PAIR_MAX;
    if (bucket->test == ONEPATH_NONE || !(is_full || bucket->is_open) || onepath_boxes_may_take(engine, tests)) {
        return false;
    }
    double in_pair = pair * STEP_OF_PAIR * (is_full ? filters : filters + 1);
    if (is_full && bucket->opened < in_pair) {
        return true;
    }
    return bucket->opened * STEP_OF_GUARD < in_pair &&
           ((is_full && are_similar(engine, tests)) || is_awaited(engine, tests, bucket));
}

/* Return how many filters may have the test: an equality of numbers may be in any filter, a bound hardly in another. */
static uint32_t likely_users(const tm_engine *engine, onepath_test test) {
    unsigned op = onepath_test_op(test);
    return op == ONEPATH_BOOLEAN_EQ || op == ONEPATH_NUMBER_EQ || op == ONEPATH_EXISTS ? UINT32_MAX
                                                                                       : onepath_users_of(engine, test);
}

/* Count the filters that have the name of each test, if all have as many tests of it as this one: a `between` is
 * two. */
static void count_filters(const tm_engine *engine, const onepath_tests *tests, uint32_t with[ONEPATH_TESTS_MAX]) {
    for (uint32_t i = 0; i < tests->count; i++) {
        uint32_t name = onepath_test_name(tests->tests[i]);
        uint32_t count = 0;
        for (uint32_t k = 0; k < tests->count; k++) {
            count += onepath_test_name(tests->tests[k]) == name;
        }
        with[i] = engine->names.records[name].references / count;
    }
}

void onepath_order_tests(const tm_engine *engine, onepath_tests *tests, uint32_t from, uint32_t end) {
    uint32_t with[ONEPATH_TESTS_MAX];
    count_filters(engine, tests, with);
    for (uint32_t i = from + 1; i < end; i++) {
        for (uint32_t j = i; j > from; j--) {
            onepath_test here = tests->tests[j];
            onepath_test before = tests->tests[j - 1];
            bool is_rarer = with[j] < with[j - 1] ||
                            (with[j] == with[j - 1] && likely_users(engine, here) < likely_users(engine, before));
            if (!is_rarer) {
                break;
            }
            onepath_swap_tests(tests, j, j - 1);
            uint32_t kept = with[j];
            with[j] = with[j - 1];
            with[j - 1] = kept;
        }
    }
}

onepath_place onepath_choose(const tm_engine *engine, uint32_t interface, onepath_tests *tests) {
    if (tests->count == 0) {
        return ONEPATH_IN_ALWAYS;
    }
    bool uses_cells = onepath_uses_cells(engine, interface);
    if (is_for_line(engine, uses_cells, tests)) {
        return ONEPATH_IN_BOXES;
    }
    if (uses_cells && fits_cells(engine, tests)) {
        return ONEPATH_IN_CELLS;
    }
    if (tests->count == 1 && !onepath_test_negated(tests->tests[0]) &&
        choose_single(engine, tests->tests[0]) != ONEPATH_NONE_PLACE) {
        return choose_single(engine, tests->tests[0]);
    }
    if (is_interval(engine, tests)) {
        return ONEPATH_IN_INTERVALS;
    }
    double pair = front_pair(engine, tests);
    candidate best = rarest_bucket(engine, tests);
    bool is_pair = pair < ONEPATH_NEVER && pair * SELECTIVITY_RANGE <= best.selectivity;
    if ((is_pair || best.test == ONEPATH_NONE) && onepath_boxes_take(engine, tests)) {
        return ONEPATH_IN_BOXES;
    }
    is_pair = is_pair && !leaves_pair(engine, tests, &best, pair);
    if (!is_pair && best.test != ONEPATH_NONE && onepath_boxes_split_full(engine, tests, tests->tests[best.test])) {
        onepath_swap_tests(tests, 0, best.test);
        return ONEPATH_IN_BOXES;
    }
    if (is_pair) {
        onepath_order_tests(engine, tests, 2, tests->count);
        return ONEPATH_IN_PAIR;
    }
    if (best.test == ONEPATH_NONE) {
        front_positive(engine, tests);
        onepath_order_tests(engine, tests, 1, tests->count);
        return onepath_test_negated(tests->tests[0]) ? ONEPATH_IN_ALWAYS : ONEPATH_IN_SCAN;
    }
    onepath_swap_tests(tests, 0, best.test);
    onepath_order_tests(engine, tests, 1, tests->count);
    return ONEPATH_IN_BUCKET;
}
