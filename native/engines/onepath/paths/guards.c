/* guards.c - filters of a full bucket that have no value to go by are behind a test that all of them have.
 *
 * Law: every filter behind a guard implies it: its test is the guard's, or a bound on the guard's side of the guard's
 * name that is at least as strict. So a match evaluates the guard's test once, and where it fails skips all of them:
 *
 *     class = "alert"   opened
 *       +-- not prefix(device, "db-")     failed: 400 filters are skipped
 *       +-- load > 10                     load > 10, > 12, ... > 19       a guard of bounds is one of a row of them:
 *       +-- load > 20                     load > 20, > 21, ... > 33       each filter is behind the strictest
 *
 * A guard of bounds knows the weakest bound on the other side of the name, so that a stretch of intervals is skipped
 * from both ends. A guard that is a bound holds a reference to its constant, as none of the filters behind it need have
 * that constant. new_guards.c makes and splits guards.
 */
#include "engines/onepath/paths/guards.h"

#include "engines/onepath/paths/buckets.h"
#include "engines/onepath/values/constants.h"

/* ---- which test implies which ---- */

bool onepath_guard_is_side(onepath_test a, onepath_test b) {
    return onepath_is_bound(a) && a >> 32 == b >> 32;
}

static bool is_low(onepath_test bound) {
    unsigned op = onepath_test_op(bound);
    return op == ONEPATH_NUMBER_GE || op == ONEPATH_WIDE_GE || op == ONEPATH_WIDE_GT || op == ONEPATH_STRING_GE ||
           op == ONEPATH_STRING_GT;
}

int64_t onepath_guard_strictness(const tm_engine *engine, onepath_test bound) {
    const onepath_strings *order = onepath_order_of(engine, bound);
    uint32_t operand = onepath_test_operand(bound);
    int64_t at = order == NULL ? (int32_t)operand : order->labels[operand];
    return is_low(bound) ? at : -at;
}

bool onepath_guard_holds_for(const tm_engine *engine, onepath_test guard, onepath_test test) {
    return test == guard || (onepath_guard_is_side(test, guard) &&
                             onepath_guard_strictness(engine, test) >= onepath_guard_strictness(engine, guard));
}

const onepath_fork *onepath_guard_of(const tm_engine *engine, const onepath_node *node, onepath_test test) {
    const onepath_fork *best = NULL;
    for (uint32_t i = 0; node->guards > 0 && i < node->count; i++) {
        const onepath_fork *fork = &node->forks[i];
        if (onepath_fork_goes_by(fork->what) != ONEPATH_FORK_TEST || fork->bits >> 32 != test >> 32) {
            continue;
        }
        if (fork->bits == test) {
            return fork;
        }
        if (onepath_guard_holds_for(engine, fork->bits, test) &&
            (best == NULL ||
             onepath_guard_strictness(engine, fork->bits) > onepath_guard_strictness(engine, best->bits))) {
            best = fork;
        }
    }
    return best;
}

onepath_test onepath_guard_before(const tm_engine *engine, const onepath_stand *stand) {
    const onepath_branch *branch = &engine->branches.rows[stand->branch];
    bool is_guard = stand->place == ONEPATH_IN_NAMED && onepath_fork_goes_by(branch->what) == ONEPATH_FORK_TEST;
    return is_guard ? branch->guard : ONEPATH_NO_TEST;
}

/* Return the ordered constants that contain the constant of a bound; NULL if the test has none. */
static onepath_strings *order_to_hold(tm_engine *engine, onepath_test test) {
    if (!onepath_is_bound(test) || onepath_order_of(engine, test) == NULL) {
        return NULL;
    }
    return onepath_op_is_wide(onepath_test_op(test)) ? &engine->numbers : &engine->strings;
}

void onepath_guard_hold(tm_engine *engine, onepath_test test) {
    onepath_strings *order = order_to_hold(engine, test);
    if (order != NULL) {
        onepath_strings_hold(order, onepath_test_operand(test));
    }
}

static void release_constant(tm_engine *engine, onepath_test test) {
    onepath_strings *order = order_to_hold(engine, test);
    if (order != NULL) {
        onepath_strings_release(order, onepath_test_operand(test), true);
    }
}

void onepath_guards_release(tm_engine *engine, const onepath_branch *branch) {
    onepath_test other = branch->other;
    if (branch->guard != ONEPATH_NO_TEST) {
        release_constant(engine, branch->guard);
        release_constant(engine, other);
    }
}

/* ---- the other side ---- */

/* Return the filter's first bound on the other side of the name of the guard; ONEPATH_NO_TEST if there is none. */
static onepath_test other_side(const tm_engine *engine, onepath_test guard, const onepath_tests *tests) {
    for (uint32_t i = 0; i < tests->count; i++) {
        onepath_test test = tests->tests[i];
        if (onepath_is_bound(test) && onepath_test_name(test) == onepath_test_name(guard) &&
            onepath_order_of(engine, test) == onepath_order_of(engine, guard) && is_low(test) != is_low(guard)) {
            return test;
        }
    }
    return ONEPATH_NO_TEST;
}

/* Return the weaker one of the branch's bound on the other side and `more`; ONEPATH_GUARD_OPEN if either may be
 * missing. */
static onepath_test weaker(const tm_engine *engine, const onepath_branch *branch, onepath_test more) {
    if (branch->other == branch->guard) { /* not set yet */
        return more == ONEPATH_NO_TEST ? ONEPATH_GUARD_OPEN : more;
    }
    if (!onepath_guard_is_side(branch->other, more)) {
        return ONEPATH_GUARD_OPEN;
    }
    return onepath_guard_strictness(engine, more) < onepath_guard_strictness(engine, branch->other) ? more
                                                                                                    : branch->other;
}

void onepath_guard_say_other(tm_engine *engine, uint32_t id, onepath_test other) {
    onepath_branch *branch = &engine->branches.rows[id];
    onepath_guard_hold(engine, other);
    release_constant(engine, branch->other);
    branch->other = other;
    onepath_node *node =
        onepath_slot_node(&engine->buckets, onepath_bucket_is_full(&engine->buckets, branch->parent).opened);
    uint32_t at = 0;
    while (node->forks[at].branch != id) {
        at++;
    }
    node->forks[at].other = other;
}

void onepath_guards_widen(tm_engine *engine, uint32_t id, const onepath_tests *tests) {
    while (id != 0) {
        const onepath_branch *branch = &engine->branches.rows[id];
        if (branch->guard != ONEPATH_NO_TEST && branch->other != ONEPATH_GUARD_OPEN) {
            onepath_test other = ONEPATH_GUARD_OPEN;
            if (onepath_is_bound(branch->guard)) {
                other = weaker(engine, branch, other_side(engine, branch->guard, tests));
            }
            if (other != branch->other) {
                onepath_guard_say_other(engine, id, other);
            }
        }
        id = onepath_key_branch(engine->branches.rows[id].parent);
    }
}
