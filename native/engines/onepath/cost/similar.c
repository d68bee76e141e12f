/* similar.c - finds the filters similar to a new one, and the tests they share. Law: as in similar.h. */
#include "engines/onepath/cost/similar.h"

#include "engines/onepath/paths/entries.h"
#include "engines/onepath/paths/guards.h"
#include "engines/onepath/values/compile.h"

#define FORKS_LOOKED_AT (4 * ONEPATH_FORKS_MAX) /* of a node: further ones are guards */

#define KEYS_LOOKED_AT (FORKS_LOOKED_AT + ONEPATH_TESTS_MAX) /* a node has one fork by name */

/* Where the forks of a node may lead a filter: by each of its tests that has one bucket, or by the name of any. */
typedef struct ways {
    const onepath_tests *tests;
    uint32_t count;
    uint32_t whats[ONEPATH_TESTS_MAX];
    uint64_t buckets[ONEPATH_TESTS_MAX];
} ways;

static void find_ways(const tm_engine *engine, const onepath_tests *tests, ways *out) {
    out->tests = tests;
    out->count = 0;
    for (uint32_t i = 0; i < tests->count; i++) {
        onepath_test test = tests->tests[i];
        uint64_t bucket = onepath_test_negated(test) ? 0 : onepath_bucket_of_test(test);
        if (bucket != 0) {
            onepath_fork_by by = onepath_test_op(test) == ONEPATH_PATTERN ? ONEPATH_FORK_PATTERN : ONEPATH_FORK_VALUE;
            out->whats[out->count] = onepath_fork_what(onepath_test_name(test), onepath_kind_of(engine, test), by);
            out->buckets[out->count++] = bucket;
        }
    }
}

/* Return the key behind a fork by value or pattern, if it matches one of the tests; 0 otherwise. */
static uint64_t key_behind(const onepath_fork *fork, const ways *open) {
    for (uint32_t i = 0; i < open->count; i++) {
        if (fork->what == open->whats[i]) {
            return onepath_key_in_branch(open->buckets[i], fork->branch);
        }
    }
    return 0;
}

/* Append the keys behind a fork that the tests lead to, after the first `count` keys. Returns the new count. */
static uint32_t add_keys(const tm_engine *engine, const onepath_fork *fork, const ways *open, uint64_t *keys,
                         uint32_t count) {
    if (onepath_fork_goes_by(fork->what) != ONEPATH_FORK_NAME) {
        keys[count] = key_behind(fork, open);
        return count + (keys[count] != 0);
    }
    for (uint32_t i = 0; i < open->tests->count && count < KEYS_LOOKED_AT; i++) {
        onepath_test test = open->tests->tests[i];
        keys[count] = onepath_name_key(fork->branch, onepath_test_name(test), onepath_kind_of(engine, test));
        count += !onepath_test_negated(test);
    }
    return count;
}

/* Return the fullest bucket directly behind a node that the tests lead to, or else that of its last guard, as an
 * example; 0 if there is none. Buckets and their nodes are far apart: all are prefetched before the first is read. */
static uint64_t fullest_behind(const tm_engine *engine, const onepath_node *node, const ways *open,
                               uint32_t *filters_there) {
    uint64_t keys[KEYS_LOOKED_AT];
    onepath_full_bucket full_buckets[KEYS_LOOKED_AT];
    uint32_t count = 0;
    keys[0] = 0;
    for (uint32_t i = 0; i < node->count && i < FORKS_LOOKED_AT && count < KEYS_LOOKED_AT; i++) {
        count = add_keys(engine, &node->forks[i], open, keys, count);
    }
    onepath_full_buckets(&engine->buckets, keys, count, full_buckets);
    uint64_t best = 0;
    uint32_t most = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t filters = full_buckets[i].entries + onepath_filters_behind(&engine->buckets, full_buckets[i].opened);
        best = filters > most ? keys[i] : best;
        most = filters > most ? filters : most;
    }
    *filters_there = most;
    const onepath_fork *last = node->count == 0 ? NULL : &node->forks[node->count - 1];
    if (best == 0 && last != NULL && onepath_fork_goes_by(last->what) == ONEPATH_FORK_TEST) {
        best = onepath_name_key(last->branch, onepath_test_name(last->bits), onepath_fork_kind(last->what));
    }
    return best;
}

uint64_t onepath_similar_end(const tm_engine *engine, uint64_t key, const onepath_tests *tests, double least,
                             double *share) {
    ways open;
    find_ways(engine, tests, &open);
    for (uint32_t depth = 0; depth <= ONEPATH_DEPTH_MAX; depth++) {
        if (*share < least) {
            return 0;
        }
        onepath_full_bucket full_bucket = onepath_bucket_is_full(&engine->buckets, key);
        const onepath_node *node =
            full_bucket.opened == NULL ? NULL : onepath_slot_node(&engine->buckets, full_bucket.opened);
        uint32_t filters = 0;
        uint64_t next = node == NULL ? 0 : fullest_behind(engine, node, &open, &filters);
        if (next == 0) {
            break;
        }
        uint32_t all = full_bucket.entries + onepath_filters_behind(&engine->buckets, full_bucket.opened);
        *share *= filters == 0 || filters > all ? 1 : (double)filters / all;
        key = next;
    }
    return key;
}

static bool has_guard_for(const tm_engine *engine, const onepath_node *node, const onepath_tests *tests) {
    bool found = false;
    for (uint32_t i = 0; i < tests->count && !found; i++) {
        found = onepath_guard_of(engine, node, tests->tests[i]) != NULL;
    }
    return found;
}

bool onepath_similar_awaits(const tm_engine *engine, uint64_t key, const onepath_tests *tests) {
    ways open;
    find_ways(engine, tests, &open);
    for (uint32_t depth = 0; depth <= ONEPATH_DEPTH_MAX && key != 0; depth++) {
        const onepath_slot *opened = onepath_bucket_is_full(&engine->buckets, key).opened;
        const onepath_node *node = opened == NULL ? NULL : onepath_slot_node(&engine->buckets, opened);
        if (node == NULL || has_guard_for(engine, node, tests)) {
            return node != NULL;
        }
        uint32_t filters;
        key = fullest_behind(engine, node, &open, &filters);
    }
    return false;
}

void onepath_similar_find(const tm_engine *engine, uint64_t key, const onepath_tests *tests, double least,
                          onepath_similar *out) {
    out->share = 1;
    uint64_t end = onepath_similar_end(engine, key, tests, least, &out->share);
    const onepath_slot *slot = end == 0 ? NULL : onepath_buckets_find(&engine->buckets, end);
    out->count = 0;
    if (slot == NULL) {
        return;
    }
    const onepath_entry *entries = onepath_slot_entries(&engine->buckets, slot);
    uint32_t count = slot->entry_count < ONEPATH_SIMILAR_MAX ? slot->entry_count : ONEPATH_SIMILAR_MAX;
    const onepath_entry *last = entries + slot->entry_count;
    onepath_ask_entries(engine, last - count, count);
    for (; out->count < count; out->count++) {
        onepath_tests_of_entry(engine, last - 1 - out->count, &out->filters[out->count]);
    }
}

double onepath_similar_share(const onepath_similar *similar, onepath_test test) {
    uint32_t making = 0;
    for (uint32_t i = 0; i < similar->count; i++) {
        const onepath_tests *tests = &similar->filters[i];
        for (uint32_t k = 0; k < tests->count; k++) {
            if (tests->tests[k] == test) {
                making++;
                break;
            }
        }
    }
    return similar->count < 2 ? 0 : similar->share * making / similar->count;
}
