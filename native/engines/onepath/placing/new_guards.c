/* new_guards.c - makes guards for the filters of full buckets, and splits guards that have too many.
 *
 * Law: as in guards.c. A guard is made when a filter is added to a full bucket in which others have one of its tests; a
 * guard of bounds is split when its own bucket is full. An addition reads at most GUARD_WINDOW entries for that, and
 * moves at most GUARD_MOVES_MAX filters where it makes one. Out of memory filters stay, which is exact, too.
 */
#include "engines/onepath/placing/new_guards.h"

#include "engines/onepath/cost/box_choice.h"
#include "engines/onepath/paths/branch_walk.h"
#include "engines/onepath/paths/buckets.h"
#include "engines/onepath/paths/entries.h"
#include "engines/onepath/paths/guard_rows.h"
#include "engines/onepath/paths/guards.h"
#include "engines/onepath/placing/move.h"
#include "engines/onepath/records.h"
#include "engines/onepath/values/compile.h"

#define GUARD_MIN 3U          /* filters that a guard is made for */
#define GUARD_BOUNDS_MIN 4U   /* bounds on one side of a name among GUARD_BODIES filters for which a guard is made */
#define GUARD_WINDOW 1024U    /* entries whose own test is compared */
#define GUARD_BODIES 64U      /* filters whose other tests are compared */
#define GUARD_TESTS 4U        /* tests of the new filter that are tried; which ones changes with each addition */
#define GUARD_MOVES_MAX 1024U /* filters that move at once: a millisecond */
#define GUARD_LOOKS_MAX 8192U /* entries read for that */

/* ---- making one ---- */

/* Make a guard in the node of an opened bucket, with no filter behind it; 0 if out of memory, or the node has too
 * many. */
static uint32_t make_guard(tm_engine *engine, uint64_t key, onepath_test guard) {
    const onepath_slot *opened = onepath_bucket_is_full(&engine->buckets, key).opened;
    if (onepath_slot_node(&engine->buckets, opened)->guards >= ONEPATH_GUARDS_MAX) {
        return 0;
    }
    uint32_t what = onepath_fork_what(0, onepath_kind_of(engine, guard), ONEPATH_FORK_TEST);
    uint32_t branch = onepath_branches_take(&engine->branches, key, what, guard);
    onepath_fork fork = {.branch = branch & (ONEPATH_BRANCHES_MAX - 1), .what = what, .bits = guard, .other = guard};
    if (branch != 0 && !onepath_buckets_add_fork(&engine->buckets, key, fork)) {
        onepath_branches_give(&engine->branches, branch);
        branch = 0;
    }
    if (branch != 0) {
        opened = onepath_bucket_is_full(&engine->buckets, key).opened;
        onepath_guards_line_up(engine, onepath_slot_node(&engine->buckets, opened));
        onepath_guard_hold(engine, guard);
        onepath_guard_hold(engine, guard); /* for the other side, which is not set yet */
    }
    return branch;
}

/* ---- the entries of a bucket ---- */

/* Filters of a bucket. */
typedef struct herd {
    uint32_t count;
    uint32_t handles[GUARD_MOVES_MAX];
} herd;

/* true if a message has to satisfy the test for this entry. */
static bool makes(const tm_engine *engine, const onepath_entry *entry, onepath_test test) {
    bool found = entry->test == test;
    if (!found && !(entry->rest & ONEPATH_LAST)) {
        const onepath_body *body = onepath_body_at(engine, entry->rest);
        for (uint32_t i = 0; i < body->count && !found; i++) {
            found = body->tests[i] == test;
        }
    }
    return found;
}

/* true if the entry has a bound on the side of the test that is at least as strict. */
static bool makes_side(const tm_engine *engine, const onepath_entry *entry, onepath_test test) {
    bool found = onepath_guard_is_side(entry->test, test) && onepath_guard_holds_for(engine, test, entry->test);
    if (!found && !(entry->rest & ONEPATH_LAST)) {
        const onepath_body *body = onepath_body_at(engine, entry->rest);
        for (uint32_t i = 0; i < body->count && !found; i++) {
            found =
                onepath_guard_is_side(body->tests[i], test) && onepath_guard_holds_for(engine, test, body->tests[i]);
        }
    }
    return found;
}

typedef bool (*pick)(const tm_engine *engine, const onepath_entry *entry, onepath_test test);

static void find_herd(const tm_engine *engine, uint64_t key, pick is_one, onepath_test test, herd *found) {
    const onepath_buckets *buckets = &engine->buckets;
    uint64_t hash = onepath_bucket_hash(buckets, key);
    const onepath_segment *segment = onepath_segment_of(buckets, hash);
    uint32_t at = onepath_segment_home(segment, hash);
    uint32_t looks = 0;
    const onepath_slot *slot;
    found->count = 0;
    while ((slot = onepath_segment_next(segment, key, onepath_tag_of(hash), &at)) != NULL && looks < GUARD_LOOKS_MAX) {
        const onepath_entry *entries = onepath_slot_entries(buckets, slot);
        for (uint32_t i = 0; i < slot->entry_count && found->count < GUARD_MOVES_MAX; i++) {
            if (is_one(engine, &entries[i], test)) {
                found->handles[found->count++] = onepath_handle_of_entry(engine, &entries[i]);
            }
        }
        looks += slot->entry_count;
    }
}

/* ---- a shared test ---- */

/* true if two of the entries in a window of the slot have this test beside them. */
static bool is_beside_others(const tm_engine *engine, const onepath_slot *slot, onepath_test test) {
    const onepath_entry *entries = onepath_slot_entries(&engine->buckets, slot);
    uint32_t count = slot->entry_count;
    uint32_t window = count < GUARD_WINDOW ? count : GUARD_WINDOW;
    uint32_t from = count > window ? engine->holders->count * 7 % (count - window) : 0;
    uint32_t found = 0;
    for (uint32_t i = from; i < from + window; i++) {
        found += entries[i].test == test;
    }
    return found >= 2; /* the filter itself may be one */
}

/* How many of some filters have a test, or a bound on its side; `weakest` is the least strict of these bounds. */
typedef struct counts {
    uint32_t same;
    uint32_t bounds;
    onepath_test weakest;
} counts;

static void count_test(const tm_engine *engine, onepath_test test, onepath_test like, counts *of) {
    of->same += test == like;
    if (onepath_guard_is_side(test, like)) {
        of->bounds++;
        of->weakest =
            onepath_guard_strictness(engine, test) < onepath_guard_strictness(engine, of->weakest) ? test : of->weakest;
    }
}

static counts counts_of(const tm_engine *engine, const onepath_slot *slot, onepath_test like) {
    const onepath_entry *entries = onepath_slot_entries(&engine->buckets, slot);
    uint32_t count = slot->entry_count;
    uint32_t window = count < GUARD_BODIES ? count : GUARD_BODIES;
    uint32_t from = count > window ? engine->holders->count * 7 % (count - window) : 0;
    counts of = {.weakest = like};
    for (uint32_t i = from; i < from + window; i++) {
        count_test(engine, entries[i].test, like, &of);
        const onepath_body *body = entries[i].rest & ONEPATH_LAST ? NULL : onepath_body_at(engine, entries[i].rest);
        for (uint32_t k = 0; body != NULL && k < body->count; k++) {
            count_test(engine, body->tests[k], like, &of);
        }
    }
    return of;
}

/* Return the test that the filter shares with most others of the bucket; ONEPATH_NO_TEST if none pays. Bounds that
 * trees of boxes accept are left to them. */
static onepath_test shared_test(const tm_engine *engine, const onepath_slot *slot, const onepath_tests *tests,
                                uint32_t first, uint32_t end, onepath_test before) {
    bool leaves_bounds = onepath_boxes_may_take(engine, tests);
    onepath_test best = ONEPATH_NO_TEST;
    uint32_t most = 0;
    uint32_t tried = end - first < GUARD_TESTS ? end - first : GUARD_TESTS;
    for (uint32_t i = 0; i < tried; i++) {
        onepath_test test = tests->tests[first + (engine->holders->count + i) % (end - first)];
        if (test == before || (leaves_bounds && onepath_is_bound(test))) {
            continue;
        }
        counts of = counts_of(engine, slot, test);
        bool by_side = of.bounds >= GUARD_BOUNDS_MIN && of.weakest != before;
        uint32_t shared = by_side ? of.bounds : of.same >= 2 || is_beside_others(engine, slot, test) ? of.same + 1 : 0;
        if (shared > most) {
            most = shared;
            best = by_side ? of.weakest : test;
        }
    }
    return best;
}

/* Return the slot of the bucket that has most of its entries. */
static const onepath_slot *fullest_slot(const tm_engine *engine, uint64_t key) {
    const onepath_buckets *buckets = &engine->buckets;
    uint64_t hash = onepath_bucket_hash(buckets, key);
    const onepath_segment *segment = onepath_segment_of(buckets, hash);
    uint32_t at = onepath_segment_home(segment, hash);
    const onepath_slot *best = NULL;
    const onepath_slot *slot;
    while ((slot = onepath_segment_next(segment, key, onepath_tag_of(hash), &at)) != NULL) {
        best = !slot->is_opened && (best == NULL || slot->entry_count > best->entry_count) ? slot : best;
    }
    return best;
}

bool onepath_guards_make(tm_engine *engine, uint32_t handle, uint64_t key) {
    onepath_tests tests;
    onepath_stand stand = onepath_stand_of(engine, handle);
    onepath_tests_of_record(engine, handle, &tests);
    uint32_t first = stand.place == ONEPATH_IN_NAMED ? 0 : 1;
    uint32_t end = tests.count - stand.implied;
    if (first >= end || !onepath_may_go_on(engine, &stand)) {
        return false;
    }
    onepath_test before = onepath_guard_before(engine, &stand);
    onepath_test guard = shared_test(engine, fullest_slot(engine, key), &tests, first, end, before);
    if (guard == ONEPATH_NO_TEST) {
        return false;
    }
    herd found;
    find_herd(engine, key, onepath_is_bound(guard) ? makes_side : makes, guard, &found);
    uint32_t branch = found.count < GUARD_MIN ? 0 : make_guard(engine, key, guard);
    if (branch == 0) {
        return false;
    }
    for (uint32_t i = 0; i < found.count && onepath_move_on(engine, found.handles[i]); i++) {
    }
    onepath_branches_count(engine, branch, stand.branch, 0);
    return true;
}

/* ---- splitting a guard of bounds ---- */

static bool is_any(const tm_engine *engine, const onepath_entry *entry, onepath_test test) {
    (void)engine;
    (void)entry;
    (void)test;
    return true;
}

/* Return the bound from which on half of the filters move; ONEPATH_NO_TEST if all are as strict as the guard. */
static onepath_test middle_of(const tm_engine *engine, const herd *found, onepath_test guard) {
    onepath_test middle = ONEPATH_NO_TEST;
    uint32_t nearest = UINT32_MAX;
    uint32_t attempts = found->count < GUARD_BODIES ? found->count : GUARD_BODIES;
    for (uint32_t i = 0; i < attempts; i++) {
        onepath_test bound = engine->records[found->handles[i * (found->count / attempts)]].access;
        int64_t at = onepath_guard_strictness(engine, bound);
        uint32_t behind = 0;
        for (uint32_t k = 0; k < attempts; k++) {
            behind += onepath_guard_strictness(
                          engine, engine->records[found->handles[k * (found->count / attempts)]].access) >= at;
        }
        uint32_t off = behind * 2 > attempts ? behind * 2 - attempts : attempts - behind * 2;
        if (at > onepath_guard_strictness(engine, guard) && off < nearest) {
            nearest = off;
            middle = bound;
        }
    }
    return middle;
}

/* Compute the other side of a guard from the filters that are still behind it. */
static void say_again(tm_engine *engine, uint32_t branch, const herd *found) {
    onepath_test guard = engine->branches.rows[branch].guard;
    onepath_guard_say_other(engine, branch, guard);
    for (uint32_t i = 0; i < found->count; i++) {
        if (engine->records[found->handles[i]].branch == branch) {
            onepath_tests tests;
            onepath_tests_of_record(engine, found->handles[i], &tests);
            onepath_guards_widen(engine, branch, &tests);
        }
    }
}

bool onepath_guards_split(tm_engine *engine, uint32_t handle, uint64_t key) {
    onepath_stand stand = onepath_stand_of(engine, handle);
    onepath_test guard = onepath_guard_before(engine, &stand);
    if (guard == ONEPATH_NO_TEST || !onepath_is_bound(guard)) {
        return false;
    }
    herd found;
    find_herd(engine, key, is_any, guard, &found);
    onepath_test middle = middle_of(engine, &found, guard);
    uint64_t parent = engine->branches.rows[stand.branch].parent;
    bool has_all = found.count == engine->branches.rows[stand.branch].filters;
    uint32_t branch = middle == ONEPATH_NO_TEST ? 0 : make_guard(engine, parent, middle);
    if (branch == 0) {
        return false;
    }
    uint32_t moved = 0;
    for (uint32_t i = 0; i < found.count; i++) {
        onepath_test access = engine->records[found.handles[i]].access;
        if (onepath_guard_holds_for(engine, middle, access)) {
            if (!onepath_move_beside(engine, found.handles[i], branch)) {
                break;
            }
            moved++;
        }
    }
    onepath_branches_count(engine, branch, onepath_key_branch(parent), 0);
    if (has_all && moved > 0 && moved < found.count) {
        say_again(engine, stand.branch, &found);
    }
    return moved > 0;
}

/* ---- validation ---- */

static bool is_behind(const tm_engine *engine, const onepath_branch *branch, const onepath_tests *tests) {
    bool by_guard = false;
    bool by_other = branch->other == ONEPATH_GUARD_OPEN;
    for (uint32_t i = 0; i < tests->count; i++) {
        by_guard |= onepath_guard_holds_for(engine, branch->guard, tests->tests[i]);
        by_other |= onepath_guard_holds_for(engine, branch->other, tests->tests[i]);
    }
    return by_guard && by_other;
}

int onepath_guards_validate(const tm_engine *engine, const char **reason) {
    for (uint32_t handle = 0; handle < engine->holders->count; handle++) {
        onepath_tests tests = {.count = 0};
        uint32_t id = onepath_branch_of(&engine->records[handle]);
        for (; id != 0; id = onepath_key_branch(engine->branches.rows[id].parent)) {
            const onepath_branch *branch = &engine->branches.rows[id];
            if (branch->guard != ONEPATH_NO_TEST && tests.count == 0) {
                onepath_tests_of_record(engine, handle, &tests);
            }
            if (branch->guard != ONEPATH_NO_TEST && !is_behind(engine, branch, &tests)) {
                *reason = "a filter stands behind a guard that it does not imply";
                return TM_MISUSED;
            }
        }
    }
    return TM_OK;
}
