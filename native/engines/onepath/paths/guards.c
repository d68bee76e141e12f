/* guards.c - filters of a crowded bucket that have no value to go by stand behind a test that all of them make.
 *
 * Law: every filter behind a guard implies it: its test is the guard's, or a bound on the same side of the same name
 * that is at least as strict. So a message makes the guard's test once, and where it fails passes all of them by:
 *
 *     class = "alert"   opened
 *       +-- not prefix(device, "db-")     failed: 400 filters are passed by
 *       +-- load > 10                     load > 10, > 12, ... > 19       a guard of bounds is one of a row of them:
 *       +-- load > 20                     load > 20, > 21, ... > 33       each filter stands behind the strictest
 *
 * Of the other side of the name a guard of bounds knows the weakest bound, so that a stretch of intervals is passed by
 * from both ends. A guard that is a bound holds its constant, as none of those behind it may have the same.
 * new_guards.c makes and splits them.
 */
#include "engines/onepath/paths/guards.h"

#include "engines/onepath/paths/buckets.h"
#include "engines/onepath/values/constants.h"

/* ---- which test implies which ---- */

bool tamis_guard_is_side(tamis_test a, tamis_test b) {
    return tamis_is_bound(a) && a >> 32 == b >> 32;
}

static bool is_low(tamis_test bound) {
    unsigned op = tamis_test_op(bound);
    return op == TAMIS_NUMBER_GE || op == TAMIS_WIDE_GE || op == TAMIS_WIDE_GT || op == TAMIS_STRING_GE ||
           op == TAMIS_STRING_GT;
}

int64_t tamis_guard_strictness(const tm_engine *engine, tamis_test bound) {
    const tamis_strings *order = tamis_order_of(engine, bound);
    uint32_t operand = tamis_test_operand(bound);
    int64_t at = order == NULL ? (int32_t)operand : order->labels[operand];
    return is_low(bound) ? at : -at;
}

bool tamis_guard_holds_for(const tm_engine *engine, tamis_test guard, tamis_test test) {
    return test == guard || (tamis_guard_is_side(test, guard) &&
                             tamis_guard_strictness(engine, test) >= tamis_guard_strictness(engine, guard));
}

const tamis_fork *tamis_guard_of(const tm_engine *engine, const tamis_node *node, tamis_test test) {
    const tamis_fork *best = NULL;
    for (uint32_t i = 0; node->guards > 0 && i < node->count; i++) {
        const tamis_fork *fork = &node->forks[i];
        if (tamis_fork_goes_by(fork->what) != TAMIS_FORK_TEST || fork->bits >> 32 != test >> 32) {
            continue;
        }
        if (fork->bits == test) {
            return fork;
        }
        if (tamis_guard_holds_for(engine, fork->bits, test) &&
            (best == NULL || tamis_guard_strictness(engine, fork->bits) > tamis_guard_strictness(engine, best->bits))) {
            best = fork;
        }
    }
    return best;
}

tamis_test tamis_guard_before(const tm_engine *engine, const tamis_stand *stand) {
    const tamis_branch *branch = &engine->branches.rows[stand->branch];
    bool is_guard = stand->place == TAMIS_IN_NAMED && tamis_fork_goes_by(branch->what) == TAMIS_FORK_TEST;
    return is_guard ? branch->guard : TAMIS_NO_TEST;
}

/* Where the constant of a bound stands in order; NULL: nowhere. */
static tamis_strings *order_to_hold(tm_engine *engine, tamis_test test) {
    if (!tamis_is_bound(test) || tamis_order_of(engine, test) == NULL) {
        return NULL;
    }
    return tamis_op_is_wide(tamis_test_op(test)) ? &engine->numbers : &engine->strings;
}

void tamis_guard_hold(tm_engine *engine, tamis_test test) {
    tamis_strings *order = order_to_hold(engine, test);
    if (order != NULL) {
        tamis_strings_hold(order, tamis_test_operand(test));
    }
}

static void release_constant(tm_engine *engine, tamis_test test) {
    tamis_strings *order = order_to_hold(engine, test);
    if (order != NULL) {
        tamis_strings_release(order, tamis_test_operand(test), true);
    }
}

void tamis_guards_release(tm_engine *engine, const tamis_branch *branch) {
    tamis_test other = branch->other;
    if (branch->guard != TAMIS_NO_TEST) {
        release_constant(engine, branch->guard);
        release_constant(engine, other);
    }
}

/* ---- the other side ---- */

/* The first bound of the filter on the name of the guard, but on the other side; TAMIS_NO_TEST: there is none. */
static tamis_test other_side(const tm_engine *engine, tamis_test guard, const tamis_tests *tests) {
    for (uint32_t i = 0; i < tests->count; i++) {
        tamis_test test = tests->tests[i];
        if (tamis_is_bound(test) && tamis_test_name(test) == tamis_test_name(guard) &&
            tamis_order_of(engine, test) == tamis_order_of(engine, guard) && is_low(test) != is_low(guard)) {
            return test;
        }
    }
    return TAMIS_NO_TEST;
}

/* The weakest of what was said of the other side and of one more bound on it: TAMIS_GUARD_OPEN where it may be missing.
 */
static tamis_test weaker(const tm_engine *engine, const tamis_branch *branch, tamis_test more) {
    if (branch->other == branch->guard) { /* nothing was said yet */
        return more == TAMIS_NO_TEST ? TAMIS_GUARD_OPEN : more;
    }
    if (!tamis_guard_is_side(branch->other, more)) {
        return TAMIS_GUARD_OPEN;
    }
    return tamis_guard_strictness(engine, more) < tamis_guard_strictness(engine, branch->other) ? more : branch->other;
}

void tamis_guard_say_other(tm_engine *engine, uint32_t id, tamis_test other) {
    tamis_branch *branch = &engine->branches.rows[id];
    tamis_guard_hold(engine, other);
    release_constant(engine, branch->other);
    branch->other = other;
    tamis_node *node = tamis_slot_node(&engine->buckets, tamis_buckets_crowd(&engine->buckets, branch->parent).opened);
    uint32_t at = 0;
    while (node->forks[at].branch != id) {
        at++;
    }
    node->forks[at].other = other;
}

void tamis_guards_widen(tm_engine *engine, uint32_t id, const tamis_tests *tests) {
    while (id != 0) {
        const tamis_branch *branch = &engine->branches.rows[id];
        if (branch->guard != TAMIS_NO_TEST && branch->other != TAMIS_GUARD_OPEN) {
            tamis_test other = TAMIS_GUARD_OPEN;
            if (tamis_is_bound(branch->guard)) {
                other = weaker(engine, branch, other_side(engine, branch->guard, tests));
            }
            if (other != branch->other) {
                tamis_guard_say_other(engine, id, other);
            }
        }
        id = tamis_key_branch(engine->branches.rows[id].parent);
    }
}
