/* alike.c - see alike.h. */
#include "engines/onepath/cost/alike.h"

#include "engines/onepath/paths/entries.h"
#include "engines/onepath/paths/guards.h"
#include "engines/onepath/values/compile.h"

#define FORKS_LOOKED_AT (4 * TAMIS_FORKS_MAX) /* of a node: further ones are guards */

#define KEYS_LOOKED_AT (FORKS_LOOKED_AT + TAMIS_TESTS_MAX) /* a node has one fork by name */

/* Where the forks of a node may lead a filter: by each of its tests that has one bucket, or by the name of any. */
typedef struct ways {
    const tamis_tests *tests;
    uint32_t count;
    uint32_t whats[TAMIS_TESTS_MAX];
    uint64_t buckets[TAMIS_TESTS_MAX];
} ways;

static void find_ways(const tm_engine *engine, const tamis_tests *tests, ways *out) {
    out->tests = tests;
    out->count = 0;
    for (uint32_t i = 0; i < tests->count; i++) {
        tamis_test test = tests->tests[i];
        uint64_t bucket = tamis_test_negated(test) ? 0 : tamis_bucket_of_test(test);
        if (bucket != 0) {
            tamis_fork_by by = tamis_test_op(test) == TAMIS_PATTERN ? TAMIS_FORK_PATTERN : TAMIS_FORK_VALUE;
            out->whats[out->count] = tamis_fork_what(tamis_test_name(test), tamis_kind_of(engine, test), by);
            out->buckets[out->count++] = bucket;
        }
    }
}

/* The key behind a fork by value or pattern, where one of the tests is about it; 0: none is. */
static uint64_t key_behind(const tamis_fork *fork, const ways *open) {
    for (uint32_t i = 0; i < open->count; i++) {
        if (fork->what == open->whats[i]) {
            return tamis_key_in_branch(open->buckets[i], fork->branch);
        }
    }
    return 0;
}

/* The keys behind a fork that one of the tests leads to, after the `count` that are there. Returns how many there are.
 */
static uint32_t add_keys(const tm_engine *engine, const tamis_fork *fork, const ways *open, uint64_t *keys,
                         uint32_t count) {
    if (tamis_fork_goes_by(fork->what) != TAMIS_FORK_NAME) {
        keys[count] = key_behind(fork, open);
        return count + (keys[count] != 0);
    }
    for (uint32_t i = 0; i < open->tests->count && count < KEYS_LOOKED_AT; i++) {
        tamis_test test = open->tests->tests[i];
        keys[count] = tamis_name_key(fork->branch, tamis_test_name(test), tamis_kind_of(engine, test));
        count += !tamis_test_negated(test);
    }
    return count;
}

/* The fullest bucket right behind a node that the tests lead to, or else that of its last guard, as an example; 0:
 * there is none. They lie far apart, and so do their nodes: all are asked for before the first is looked at. */
static uint64_t fullest_behind(const tm_engine *engine, const tamis_node *node, const ways *open,
                               uint32_t *filters_there) {
    uint64_t keys[KEYS_LOOKED_AT];
    tamis_crowd crowds[KEYS_LOOKED_AT];
    uint32_t count = 0;
    keys[0] = 0;
    for (uint32_t i = 0; i < node->count && i < FORKS_LOOKED_AT && count < KEYS_LOOKED_AT; i++) {
        count = add_keys(engine, &node->forks[i], open, keys, count);
    }
    tamis_buckets_crowds(&engine->buckets, keys, count, crowds);
    uint64_t best = 0;
    uint32_t most = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t filters = crowds[i].entries + tamis_filters_behind(&engine->buckets, crowds[i].opened);
        best = filters > most ? keys[i] : best;
        most = filters > most ? filters : most;
    }
    *filters_there = most;
    const tamis_fork *last = node->count == 0 ? NULL : &node->forks[node->count - 1];
    if (best == 0 && last != NULL && tamis_fork_goes_by(last->what) == TAMIS_FORK_TEST) {
        best = tamis_name_key(last->branch, tamis_test_name(last->bits), tamis_fork_kind(last->what));
    }
    return best;
}

uint64_t tamis_alike_end(const tm_engine *engine, uint64_t key, const tamis_tests *tests, double least, double *share) {
    ways open;
    find_ways(engine, tests, &open);
    for (uint32_t depth = 0; depth <= TAMIS_DEPTH_MAX; depth++) {
        if (*share < least) {
            return 0;
        }
        tamis_crowd crowd = tamis_buckets_crowd(&engine->buckets, key);
        const tamis_node *node = crowd.opened == NULL ? NULL : tamis_slot_node(&engine->buckets, crowd.opened);
        uint32_t filters = 0;
        uint64_t next = node == NULL ? 0 : fullest_behind(engine, node, &open, &filters);
        if (next == 0) {
            break;
        }
        uint32_t all = crowd.entries + tamis_filters_behind(&engine->buckets, crowd.opened);
        *share *= filters == 0 || filters > all ? 1 : (double)filters / all;
        key = next;
    }
    return key;
}

static bool has_guard_for(const tm_engine *engine, const tamis_node *node, const tamis_tests *tests) {
    bool found = false;
    for (uint32_t i = 0; i < tests->count && !found; i++) {
        found = tamis_guard_of(engine, node, tests->tests[i]) != NULL;
    }
    return found;
}

bool tamis_alike_awaits(const tm_engine *engine, uint64_t key, const tamis_tests *tests) {
    ways open;
    find_ways(engine, tests, &open);
    for (uint32_t depth = 0; depth <= TAMIS_DEPTH_MAX && key != 0; depth++) {
        const tamis_slot *opened = tamis_buckets_crowd(&engine->buckets, key).opened;
        const tamis_node *node = opened == NULL ? NULL : tamis_slot_node(&engine->buckets, opened);
        if (node == NULL || has_guard_for(engine, node, tests)) {
            return node != NULL;
        }
        uint32_t filters;
        key = fullest_behind(engine, node, &open, &filters);
    }
    return false;
}

void tamis_alike_find(const tm_engine *engine, uint64_t key, const tamis_tests *tests, double least, tamis_alike *out) {
    out->share = 1;
    uint64_t end = tamis_alike_end(engine, key, tests, least, &out->share);
    const tamis_slot *slot = end == 0 ? NULL : tamis_buckets_find(&engine->buckets, end);
    out->count = 0;
    if (slot == NULL) {
        return;
    }
    const tamis_entry *entries = tamis_slot_entries(&engine->buckets, slot);
    uint32_t count = slot->entry_count < TAMIS_ALIKE_MAX ? slot->entry_count : TAMIS_ALIKE_MAX;
    const tamis_entry *last = entries + slot->entry_count;
    tamis_ask_entries(engine, last - count, count);
    for (; out->count < count; out->count++) {
        tamis_tests_of_entry(engine, last - 1 - out->count, &out->filters[out->count]);
    }
}

double tamis_alike_share(const tamis_alike *alike, tamis_test test) {
    uint32_t making = 0;
    for (uint32_t i = 0; i < alike->count; i++) {
        const tamis_tests *tests = &alike->filters[i];
        for (uint32_t k = 0; k < tests->count; k++) {
            if (tests->tests[k] == test) {
                making++;
                break;
            }
        }
    }
    return alike->count < 2 ? 0 : alike->share * making / alike->count;
}
