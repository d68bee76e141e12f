/* alike.c - see alike.h. */
#include "engines/onepath/alike.h"

#include "engines/onepath/buckets.h"

#define FORKS_LOOKED_AT (4 * TAMIS_FORKS_MAX) /* of a node: further ones are guards */

static uint32_t filters_of(const tm_engine *engine, uint64_t key) {
    tamis_crowd crowd = tamis_buckets_crowd(&engine->buckets, key);
    return crowd.entries + tamis_filters_behind(engine, crowd.opened);
}

/* The fullest bucket behind a fork by name that the tests lead to; 0: there is none. */
static uint64_t key_by_name(const tm_engine *engine, const tamis_fork *fork, const tamis_tests *tests) {
    uint64_t best = 0;
    uint32_t most = 0;
    for (uint32_t i = 0; i < tests->count; i++) {
        tamis_test test = tests->tests[i];
        uint64_t key = tamis_name_key(fork->branch, tamis_test_name(test), tamis_kind_of(engine, test));
        uint32_t filters = tamis_test_negated(test) ? 0 : filters_of(engine, key);
        best = filters > most ? key : best;
        most = filters > most ? filters : most;
    }
    return best;
}

/* The key behind a fork by value, pattern or name, where one of the tests is about it; 0: none is. */
static uint64_t key_behind(const tm_engine *engine, const tamis_fork *fork, const tamis_tests *tests) {
    if (tamis_fork_goes_by(fork->what) == TAMIS_FORK_NAME) {
        return key_by_name(engine, fork, tests);
    }
    for (uint32_t i = 0; i < tests->count; i++) {
        tamis_test test = tests->tests[i];
        uint64_t bucket = tamis_test_negated(test) ? 0 : tamis_bucket_of_test(test);
        bool by_pattern = tamis_test_op(test) == TAMIS_PATTERN;
        tamis_fork_by by = by_pattern ? TAMIS_FORK_PATTERN : TAMIS_FORK_VALUE;
        if (bucket != 0 && fork->what == tamis_fork_what(tamis_test_name(test), tamis_kind_of(engine, test), by)) {
            return tamis_key_in_branch(bucket, fork->branch);
        }
    }
    return 0;
}

/* The fullest bucket right behind a node that the tests lead to, or else that of its last guard, as an example; 0:
 * there is none. */
static uint64_t fullest_behind(const tm_engine *engine, const tamis_node *node, const tamis_tests *tests,
                               uint32_t *filters_there) {
    uint64_t best = 0;
    uint32_t most = 0;
    for (uint32_t i = 0; i < node->count && i < FORKS_LOOKED_AT; i++) {
        uint64_t key = key_behind(engine, &node->forks[i], tests);
        uint32_t filters = key == 0 ? 0 : filters_of(engine, key);
        best = filters > most ? key : best;
        most = filters > most ? filters : most;
    }
    *filters_there = most;
    const tamis_fork *last = node->count == 0 ? NULL : &node->forks[node->count - 1];
    if (best == 0 && last != NULL && tamis_fork_goes_by(last->what) == TAMIS_FORK_TEST) {
        best = tamis_name_key(last->branch, tamis_test_name(last->bits), tamis_fork_kind(last->what));
    }
    return best;
}

uint64_t tamis_alike_end(const tm_engine *engine, uint64_t key, const tamis_tests *tests, double *share) {
    for (uint32_t depth = 0; depth <= TAMIS_DEPTH_MAX; depth++) {
        tamis_crowd crowd = tamis_buckets_crowd(&engine->buckets, key);
        const tamis_node *node = crowd.opened == NULL ? NULL : tamis_slot_node(&engine->buckets, crowd.opened);
        uint32_t filters = 0;
        uint64_t next = node == NULL ? 0 : fullest_behind(engine, node, tests, &filters);
        if (next == 0) {
            break;
        }
        uint32_t all = crowd.entries + tamis_filters_behind(engine, crowd.opened);
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
    for (uint32_t depth = 0; depth <= TAMIS_DEPTH_MAX && key != 0; depth++) {
        const tamis_slot *opened = tamis_buckets_crowd(&engine->buckets, key).opened;
        const tamis_node *node = opened == NULL ? NULL : tamis_slot_node(&engine->buckets, opened);
        if (node == NULL || has_guard_for(engine, node, tests)) {
            return node != NULL;
        }
        uint32_t filters;
        key = fullest_behind(engine, node, tests, &filters);
    }
    return false;
}

void tamis_alike_find(const tm_engine *engine, uint64_t key, const tamis_tests *tests, tamis_alike *out) {
    out->share = 1;
    const tamis_slot *slot = tamis_buckets_find(&engine->buckets, tamis_alike_end(engine, key, tests, &out->share));
    out->count = 0;
    for (uint32_t at = slot == NULL ? 0 : slot->entry_count; at > 0 && out->count < TAMIS_ALIKE_MAX; at--) {
        tamis_tests_of_entry(engine, &tamis_slot_entries(&engine->buckets, slot)[at - 1], &out->filters[out->count++]);
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
