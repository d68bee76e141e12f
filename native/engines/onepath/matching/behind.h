/* behind.h - matches what is behind the opened buckets that a message has reached.
 *
 * Law: for each fork the match makes as many probes as the message has values, patterns or names for it, and one for a
 * guard that holds; guards that fail with a guard that has failed are skipped. Buckets behind are read together, as
 * those in front are; those that are opened in turn wait in engine->opened, which has room for all opened buckets: no
 * key is searched for twice. Private to match.c.
 */
#ifndef TM_ONEPATH_BEHIND_H
#define TM_ONEPATH_BEHIND_H

#include "engines/onepath/matching/reach.h"
#include "engines/onepath/paths/bucket_keys.h"

/* Probe the bucket of an operand behind the fork, if a filter there may have it. */
static inline void see_fork_value(matching *m, const onepath_fork *fork, onepath_tag tag, uint32_t operand) {
    if (fork->bits & onepath_operand_bit(operand)) {
        see_bucket(m, onepath_key_in_branch(onepath_bucket_key(tag, 0, operand), fork->branch));
    }
}

static inline void see_fork_by_value(matching *m, const onepath_fork *fork, uint64_t state) {
    uint32_t attribute = state_attribute(state);
    const tm_attribute *value = &m->attributes[attribute];
    switch (state_kind(state)) {
    case ONEPATH_STRING:
        if (m->views[attribute].constant != TM_NO_STRING) {
            see_fork_value(m, fork, ONEPATH_BY_STRING, m->views[attribute].constant);
        }
        break;
    case ONEPATH_BOOLEAN:
        see_fork_value(m, fork, ONEPATH_BY_BOOLEAN, (uint32_t)state_code(state));
        break;
    default:
        if (value->kind == TM_KIND_INTEGER && onepath_has_code(value->integer)) {
            see_fork_value(m, fork, ONEPATH_BY_NUMBER, (uint32_t)state_code(state));
        } else {
            uint32_t operand = onepath_wide_operand(&m->engine->buckets.key, value->kind == TM_KIND_FLOAT,
                                                    value->integer, value->real);
            see_fork_value(m, fork, ONEPATH_BY_WIDE, operand);
        }
        break;
    }
}

static inline void see_fork_by_pattern(matching *m, const onepath_fork *fork, uint32_t attribute) {
    const onepath_view *view = &m->views[attribute];
    const uint32_t *patterns = patterns_of(m, attribute);
    if (tm_work_spend(&m->answer->work, view->pattern_count)) {
        for (uint32_t i = 0; i < view->pattern_count; i++) {
            see_fork_value(m, fork, ONEPATH_BY_PATTERN, patterns[i]);
        }
    }
}

static inline void see_fork_by_name(matching *m, const onepath_fork *fork) {
    m->answer->work.steps += m->known_count;
    for (uint32_t i = 0; i < m->known_count; i++) {
        uint64_t key = onepath_name_key(fork->branch, m->known[i].name, m->known[i].kind);
        if (fork->bits & onepath_operand_bit((uint32_t)key)) {
            see_bucket(m, key);
        }
    }
}

/* Probe the bucket behind a guard if its tests hold. Return how many of the next forks fail with it: 0 if it holds. */
static inline uint32_t see_fork_by_test(matching *m, const onepath_fork *fork) {
    m->answer->work.steps++;
    if (!holds(m, fork->bits)) {
        return fork->behind;
    }
    if (holds(m, fork->other)) {
        see_bucket(m, onepath_name_key(fork->branch, onepath_test_name(fork->bits), onepath_fork_kind(fork->what)));
    }
    return 0;
}

static inline void see_forks(matching *m, const onepath_node *node) {
    if (!tm_work_spend(&m->answer->work, node->count - node->guards)) {
        return;
    }
    for (uint32_t i = 0; i < node->count; i++) {
        const onepath_fork *fork = &node->forks[i];
        onepath_fork_by by = onepath_fork_goes_by(fork->what);
        if (by == ONEPATH_FORK_NAME) {
            see_fork_by_name(m, fork);
            continue;
        }
        if (by == ONEPATH_FORK_TEST) {
            i += see_fork_by_test(m, fork);
            continue;
        }
        uint64_t state = m->engine->state[onepath_fork_name(fork->what)];
        if (state == 0 || state_kind(state) != onepath_fork_kind(fork->what)) {
            continue;
        }
        if (by == ONEPATH_FORK_PATTERN) {
            see_fork_by_pattern(m, fork, state_attribute(state));
        } else {
            see_fork_by_value(m, fork, state);
        }
    }
}

/* Match all that is behind the opened buckets found so far. */
static inline void look_behind(matching *m) {
    for (uint32_t seen = 0; seen < m->opened_count;) {
        for (uint32_t end = m->opened_count; seen < end; seen++) {
            see_forks(m, (const onepath_node *)tm_arena_at(&m->engine->buckets.arena, m->engine->opened[seen]));
        }
        look_at_probes(m);
    }
    m->opened_count = 0;
}

#endif
