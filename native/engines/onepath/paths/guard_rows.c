/* guard_rows.c - the guards of a node in rows: where one fails, those that must fail with it are not tested.
 *
 * Law: a fork by test counts the forks right behind it that fail where its own test fails: those of bounds on its side
 * of the name that are at least as strict, and of negated prefixes (or suffixes) of the name that its own text begins
 * (or ends) with. The count is never too high; it may be too low.
 *
 *     not prefix(device, "db-1-")    the weakest comes first: a device that begins with "db-1-" fails in all three
 *     not prefix(device, "db-")      one that begins with "db-2" fails from here on
 *     not prefix(device, "d")
 *
 * So a match evaluates, of each row, the guards that hold, and one that fails.
 */
#include "engines/onepath/paths/guard_rows.h"

#include <string.h>

#include "engines/onepath/paths/guards.h"

static bool is_same_sort(onepath_test a, onepath_test b) {
    return a >> 32 == b >> 32;
}

bool onepath_guard_fails_with(const tm_engine *engine, onepath_test first, onepath_test other) {
    if (!is_same_sort(first, other)) {
        return false;
    }
    if (onepath_test_op(other) == ONEPATH_PATTERN) {
        return onepath_test_negated(other) &&
               onepath_patterns_has(&engine->patterns, onepath_test_operand(first), onepath_test_operand(other));
    }
    return onepath_guard_holds_for(engine, first, other);
}

static bool is_guard(const onepath_fork *fork) {
    return onepath_fork_goes_by(fork->what) == ONEPATH_FORK_TEST;
}

/* Return the place of a guard among the forks before the last: before the first that fails with it, or else behind the
 * last that it fails with. */
static uint32_t place_of(const tm_engine *engine, const onepath_node *node, onepath_test guard) {
    uint32_t end = node->count - 1;
    uint32_t place = end;
    for (uint32_t i = 0; i < end; i++) {
        if (is_guard(&node->forks[i]) && onepath_guard_fails_with(engine, guard, node->forks[i].bits)) {
            return i;
        }
        if (is_guard(&node->forks[i]) && onepath_guard_fails_with(engine, node->forks[i].bits, guard)) {
            place = i + 1;
        }
    }
    return place;
}

/* Return how many forks behind this one fail with it; the counts of those must be right. */
static uint32_t count_behind(const tm_engine *engine, const onepath_node *node, uint32_t at) {
    uint32_t next = at + 1;
    while (next < node->count && is_guard(&node->forks[next]) &&
           onepath_guard_fails_with(engine, node->forks[at].bits, node->forks[next].bits)) {
        next += 1U + node->forks[next].behind;
    }
    uint32_t behind = next - at - 1;
    return behind < ONEPATH_BEHIND_MAX ? behind : ONEPATH_BEHIND_MAX;
}

void onepath_guards_line_up(const tm_engine *engine, onepath_node *node) {
    onepath_fork fork = node->forks[node->count - 1];
    uint32_t at = place_of(engine, node, fork.bits);
    memmove(&node->forks[at + 1], &node->forks[at], sizeof fork * (node->count - 1 - at));
    node->forks[at] = fork;
    for (uint32_t i = at + 1;
         i > 0 && is_guard(&node->forks[i - 1]) && is_same_sort(node->forks[i - 1].bits, fork.bits); i--) {
        node->forks[i - 1].behind = count_behind(engine, node, i - 1) & ONEPATH_BEHIND_MAX;
    }
}

bool onepath_guards_are_in_rows(const tm_engine *engine, const onepath_node *node) {
    for (uint32_t i = 0; i < node->count; i++) {
        for (uint32_t k = 1; k <= node->forks[i].behind; k++) {
            if (i + k >= node->count || !is_guard(&node->forks[i]) || !is_guard(&node->forks[i + k]) ||
                !onepath_guard_fails_with(engine, node->forks[i].bits, node->forks[i + k].bits)) {
                return false;
            }
        }
    }
    return true;
}
