/* guard_rows.c - the guards of a node in rows: where one fails, those that must fail with it are not tested.
 *
 * Law: a fork by test says how many of the forks right behind it fail where its own test fails: those of bounds on the
 * same side of the name that are at least as strict, and of negated prefixes (or suffixes) of the name that its own
 * text begins (or ends) with. It never says too many; it may say too few.
 *
 *     not prefix(device, "db-1-")    the weakest comes first: a device that begins with "db-1-" fails in all three
 *     not prefix(device, "db-")      one that begins with "db-2" fails from here on
 *     not prefix(device, "d")
 *
 * So a message tests, of each row, those that hold, behind which it has to look, and one that fails.
 */
#include "engines/onepath/paths/guard_rows.h"

#include <string.h>

#include "engines/onepath/paths/guards.h"

static bool is_same_sort(tamis_test a, tamis_test b) {
    return a >> 32 == b >> 32;
}

bool tamis_guard_fails_with(const tm_engine *engine, tamis_test first, tamis_test other) {
    if (!is_same_sort(first, other)) {
        return false;
    }
    if (tamis_test_op(other) == TAMIS_PATTERN) {
        return tamis_test_negated(other) &&
               tamis_patterns_has(&engine->patterns, tamis_test_operand(first), tamis_test_operand(other));
    }
    return tamis_guard_holds_for(engine, first, other);
}

static bool is_guard(const tamis_fork *fork) {
    return tamis_fork_goes_by(fork->what) == TAMIS_FORK_TEST;
}

/* Where a guard belongs among the forks before the last: before the first that fails with it, or else behind the last
 * that it fails with. */
static uint32_t place_of(const tm_engine *engine, const tamis_node *node, tamis_test guard) {
    uint32_t end = node->count - 1;
    uint32_t place = end;
    for (uint32_t i = 0; i < end; i++) {
        if (is_guard(&node->forks[i]) && tamis_guard_fails_with(engine, guard, node->forks[i].bits)) {
            return i;
        }
        if (is_guard(&node->forks[i]) && tamis_guard_fails_with(engine, node->forks[i].bits, guard)) {
            place = i + 1;
        }
    }
    return place;
}

/* How many behind this one fail with it: what they say themselves is right. */
static uint32_t count_behind(const tm_engine *engine, const tamis_node *node, uint32_t at) {
    uint32_t next = at + 1;
    while (next < node->count && is_guard(&node->forks[next]) &&
           tamis_guard_fails_with(engine, node->forks[at].bits, node->forks[next].bits)) {
        next += 1U + node->forks[next].behind;
    }
    uint32_t behind = next - at - 1;
    return behind < TAMIS_BEHIND_MAX ? behind : TAMIS_BEHIND_MAX;
}

void tamis_guards_line_up(const tm_engine *engine, tamis_node *node) {
    tamis_fork fork = node->forks[node->count - 1];
    uint32_t at = place_of(engine, node, fork.bits);
    memmove(&node->forks[at + 1], &node->forks[at], sizeof fork * (node->count - 1 - at));
    node->forks[at] = fork;
    for (uint32_t i = at + 1;
         i > 0 && is_guard(&node->forks[i - 1]) && is_same_sort(node->forks[i - 1].bits, fork.bits); i--) {
        node->forks[i - 1].behind = count_behind(engine, node, i - 1) & TAMIS_BEHIND_MAX;
    }
}

bool tamis_guards_are_in_rows(const tm_engine *engine, const tamis_node *node) {
    for (uint32_t i = 0; i < node->count; i++) {
        for (uint32_t k = 1; k <= node->forks[i].behind; k++) {
            if (i + k >= node->count || !is_guard(&node->forks[i]) || !is_guard(&node->forks[i + k]) ||
                !tamis_guard_fails_with(engine, node->forks[i].bits, node->forks[i + k].bits)) {
                return false;
            }
        }
    }
    return true;
}
