/* boxes.c - filters of ranges become boxes, and cease to be. Law: see boxes.h. */
#include <string.h>

#include "engines/onepath/cost/alike.h"
#include "engines/onepath/paths/boxes.h"
#include "engines/onepath/paths/buckets.h"
#include "engines/onepath/paths/entries.h"
#include "engines/onepath/paths/lines.h"

#define EQUALITIES_UP_TO 8U  /* names of a box */
#define SAMPLES 4U           /* filters of a bucket that are compared with one that comes */
#define SAMPLES_MORE 64U     /* the same, where those look as if many were of one family */
#define GUARDED_MIN 8U       /* filters that may share the guard of a family */
#define GUARDED_FAMILIES 64U /* so many guarded families, and one more filter has to */
#define SAMPLES_ALIKE 2U     /* so many of them of its family: they are counted */
#define MOVES_MAX 1024U      /* filters that become boxes at once: a millisecond or two */
#define FOLLOW_AT_ONCE 2U    /* boxes that go behind a guard after one that has come */

/* ---- a filter as a box ---- */

/* The names of a family, sorted: `name << 2 | kind`, where a string that is compared as a whole has a kind of its own.
 */
typedef struct family_names {
    uint32_t names[TM_BOX_NAMES_MAX];
    uint32_t count;
    uint32_t bounds;  /* tests that are no equalities */
    tamis_test guard; /* TAMIS_NO_TEST: none */
} family_names;

/* What the test says something of; false: a box cannot say it. */
static bool name_of(const tm_engine *engine, tamis_test test, uint32_t *name) {
    unsigned op = tamis_test_op(test);
    unsigned kind = op == TAMIS_STRING_EQ ? TAMIS_BY_CONSTANT : tamis_kind_of(engine, test);
    *name = tamis_test_name(test) << 2 | kind;
    bool is_equality = op == TAMIS_NUMBER_EQ || op == TAMIS_STRING_EQ || op == TAMIS_BOOLEAN_EQ;
    return tamis_is_bound(test) || (is_equality && !tamis_test_negated(test));
}

/* Into sorted names, of which there are at most so many: the first. */
static void put_name(uint32_t *names, uint32_t *count, uint32_t most, uint32_t name) {
    uint32_t at = 0;
    while (at < *count && names[at] < name) {
        at++;
    }
    if (at == most || (at < *count && names[at] == name)) {
        return;
    }
    *count += *count < most;
    memmove(names + at + 1, names + at, sizeof *names * (*count - 1 - at));
    names[at] = name;
}

static bool has_name(const family_names *family, uint32_t name) {
    for (uint32_t i = 0; i < family->count; i++) {
        if (family->names[i] == name) {
            return true;
        }
    }
    return false;
}

/* What the tests say in all their ranges, and in equalities while names are few: equalities that many filters share
 * tell nothing, and others have a bucket. */
static void find_names(const tm_engine *engine, const tamis_tests *tests, family_names *out) {
    uint32_t name;
    *out = (family_names){.guard = TAMIS_NO_TEST};
    for (uint32_t i = 0; i < tests->count; i++) {
        if (tamis_is_bound(tests->tests[i]) && name_of(engine, tests->tests[i], &name)) {
            out->bounds++;
            put_name(out->names, &out->count, TM_BOX_NAMES_MAX, name);
        }
    }
    family_names equal = {.count = 0};
    uint32_t room = out->count < EQUALITIES_UP_TO ? EQUALITIES_UP_TO - out->count : 0;
    for (uint32_t i = 0; i < tests->count; i++) {
        if (!tamis_is_bound(tests->tests[i]) && name_of(engine, tests->tests[i], &name) && !has_name(out, name)) {
            put_name(equal.names, &equal.count, room, name);
        }
    }
    for (uint32_t i = 0; i < equal.count; i++) {
        put_name(out->names, &out->count, TM_BOX_NAMES_MAX, equal.names[i]);
    }
}

/* Equalities alone are better looked up. */
static bool is_family(const family_names *family) {
    return family->count >= 2 && family->bounds > 0;
}

static bool same_names(const family_names *a, const family_names *b) {
    return a->count == b->count && memcmp(a->names, b->names, sizeof *a->names * a->count) == 0;
}

/* What a test compares with, and how. */
typedef struct bound {
    double at;
    bool is_low;
    bool is_high;
    bool is_strict;
} bound;

static bool bound_of_number(const tm_engine *engine, tamis_test test, bound *out) {
    unsigned op = tamis_test_op(test);
    if (tamis_op_is_wide(op)) {
        int64_t integer;
        double real;
        bool is_real = tamis_number_of_bytes(tamis_string_text(&engine->numbers.records[tamis_test_operand(test)]),
                                             &integer, &real);
        tm_box_value value = tm_box_value_of(is_real, integer, real);
        bool is_low = op >= TAMIS_WIDE_GT;
        bool is_float = value.below == value.above; /* if not, it does not bound the box */
        *out =
            (bound){value.below, is_float && is_low, is_float && !is_low, op == TAMIS_WIDE_LT || op == TAMIS_WIDE_GT};
        return is_float;
    }
    int32_t code = (int32_t)tamis_test_operand(test);
    bool is_strict = code % 2 != 0; /* between two integers: see compile.c */
    int32_t out_of = op == TAMIS_NUMBER_GE ? -1 : 1;
    double at = ((double)code + (is_strict ? out_of : 0)) / 2;
    *out = (bound){at, op != TAMIS_NUMBER_LE, op != TAMIS_NUMBER_GE, is_strict};
    return true;
}

/* How the test bounds what it is about; false: a box says less than it. */
static bool bound_of(const tm_engine *engine, tamis_test test, bound *out) {
    unsigned op = tamis_test_op(test);
    if (op == TAMIS_STRING_EQ || op == TAMIS_BOOLEAN_EQ) {
        *out = (bound){tamis_test_operand(test), true, true, false};
        return true;
    }
    return bound_of_number(engine, test, out);
}

/* The same of a bound on a string. */
static void narrow_text(const tm_engine *engine, uint32_t names, uint32_t at, tamis_test test, tm_box *box) {
    unsigned op = tamis_test_op(test);
    bool is_low = op >= TAMIS_STRING_GT;
    unsigned side = op == TAMIS_STRING_GT ? TM_BOX_ABOVE : op == TAMIS_STRING_LT ? TM_BOX_BELOW : TM_BOX_AT;
    tm_box_narrow_labelled(box, names, at, is_low, tm_box_constant(tamis_test_operand(test), side),
                           engine->strings.labels);
}

/* Narrow the box by a test; false: neither the box nor the guard of the family says all that the test does. */
static bool narrow(const tm_engine *engine, const family_names *family, tamis_test test, tm_box *box) {
    uint32_t name;
    uint32_t at = 0;
    bool is_said = name_of(engine, test, &name);
    while (at < family->count && family->names[at] != name) {
        at++;
    }
    if (!is_said || at == family->count) {
        return test == family->guard;
    }
    if ((family->names[at] & 3) == TAMIS_STRING) {
        narrow_text(engine, family->count, at, test, box);
        return true;
    }
    bound end = {0};
    bool says_all = bound_of(engine, test, &end);
    if (end.is_low) {
        tm_box_narrow(box, family->count, at, true, end.is_strict, end.at);
    }
    if (end.is_high) {
        tm_box_narrow(box, family->count, at, false, end.is_strict, end.at);
    }
    return says_all;
}

/* Those that the box does not say first: a message in the box makes them, and the others hold as a rule. */
static void put_tests(const tm_engine *engine, const family_names *family, const tamis_tests *tests, uint64_t *out) {
    tm_box box;
    bool is_said[TAMIS_TESTS_MAX];
    uint32_t count = 0;
    tm_box_open(&box, family->count);
    for (uint32_t i = 0; i < tests->count; i++) {
        is_said[i] = narrow(engine, family, tests->tests[i], &box);
        if (!is_said[i]) {
            out[count++] = tests->tests[i];
        }
    }
    for (uint32_t i = 0; i < tests->count; i++) {
        if (is_said[i]) {
            out[count++] = tests->tests[i];
        }
    }
}

static void box_of(const tm_engine *engine, uint32_t interface, const tamis_tests *tests, const family_names *family,
                   tm_box *box) {
    bool says_all = true;
    tm_box_open(box, family->count);
    for (uint32_t i = 0; i < tests->count; i++) {
        says_all &= narrow(engine, family, tests->tests[i], box);
    }
    box->payload = interface | (says_all ? TAMIS_LAST : 0);
    box->track = tamis_uses_cells(engine, interface) ? (uint16_t)interface : TM_BOX_UNTRACKED;
}

_Static_assert(TAMIS_CELL_INTERFACES == TM_BOX_TRACKED, "what cells have, trees of boxes have");
_Static_assert(TAMIS_NO_TEST == TM_FAMILY_UNGUARDED, "no guard is no test");
_Static_assert(TAMIS_STRING == TM_BOX_LABELLED, "strings in order have labels");

/* ---- bodies ---- */

static unsigned class_of(uint32_t tests) {
    return tm_arena_class(2 + tests);
}

static tm_box_node *leaf_of(const tamis_body *body) {
    return (tm_box_node *)(uintptr_t)body->tests[body->count];
}

static void note_leaf(void *owner, uint32_t id, tm_box_node *leaf) {
    tamis_body *body = tamis_body_at(owner, id);
    body->tests[body->count] = (uintptr_t)leaf;
}

static bool fails_with(const void *owner, uint64_t first, uint64_t other) {
    return tamis_guard_fails_with(owner, first, other);
}

void tamis_boxes_init(tm_engine *engine) {
    tm_families_init(&engine->families, engine->memory, note_leaf, engine);
    engine->families.fails_with = fails_with;
    engine->families.labels = (const int64_t *const *)&engine->strings.labels;
}

void tamis_boxes_tests(const tm_engine *engine, uint32_t handle, tamis_tests *out) {
    const tamis_body *body = tamis_body_at(engine, engine->records[handle].body);
    out->count = body->count;
    memcpy(out->tests, body->tests, sizeof(tamis_test) * body->count);
}

/* Tests of one name stand together, as a rule. */
void tamis_boxes_ask(const tm_engine *engine, uint32_t handle, const tamis_tests *tests) {
    uint32_t names = tests->count > 0;
    for (uint32_t i = 1; i < tests->count && names < TM_BOX_NAMES_MAX; i++) {
        names += tamis_test_name(tests->tests[i]) != tamis_test_name(tests->tests[i - 1]);
    }
    tm_boxes_ask(leaf_of(tamis_body_at(engine, engine->records[handle].body)), names);
}

void tamis_boxes_ask_bounds(const tm_engine *engine, uint32_t handle) {
    tm_boxes_ask_bounds(leaf_of(tamis_body_at(engine, engine->records[handle].body)));
}

/* ---- in and out ---- */

bool tamis_boxes_may_take(const tm_engine *engine, const tamis_tests *tests) {
    family_names family;
    find_names(engine, tests, &family);
    return is_family(&family);
}

static tm_family *family_of(const tm_engine *engine, const family_names *family) {
    return tm_families_find(&engine->families, family->names, family->count, family->guard);
}

/* Choose the guard of a filter with ranges that has no bucket: of the tests that no box says the one that most others
 * may make, too. The more guarded families there are, the more filters a further one has to be worth. */
static void choose_guard(const tm_engine *engine, const tamis_tests *tests, family_names *family) {
    uint32_t most = GUARDED_MIN + engine->families.guarded / GUARDED_FAMILIES;
    for (uint32_t i = 0; i < tests->count; i++) {
        if (family->bounds == 0 || tamis_has_bucket(engine, tests->tests[i])) {
            return;
        }
    }
    for (uint32_t i = 0; i < tests->count; i++) {
        uint32_t name;
        uint32_t users = name_of(engine, tests->tests[i], &name) ? 0 : tamis_users_of(engine, tests->tests[i]);
        if (users >= most) {
            most = users;
            family->guard = tests->tests[i];
        }
    }
}

bool tamis_boxes_take(const tm_engine *engine, const tamis_tests *tests) {
    if (engine->scatters) {
        return false;
    }
    family_names family;
    find_names(engine, tests, &family);
    choose_guard(engine, tests, &family);
    return family.guard != TAMIS_NO_TEST || tamis_lines_take(engine, tests) ||
           (is_family(&family) && family_of(engine, &family) != NULL);
}

bool tamis_boxes_enter(tm_engine *engine, uint32_t handle, const tamis_tests *tests) {
    family_names family;
    find_names(engine, tests, &family);
    choose_guard(engine, tests, &family);
    uint32_t body = tm_arena_take(&engine->bodies, class_of(tests->count));
    if (body & TAMIS_LAST) { /* what a record says of a body has no such bit */
        tm_arena_give(&engine->bodies, body, class_of(tests->count));
        return false;
    }
    if (body == 0) {
        return false;
    }
    tamis_body *at = tamis_body_at(engine, body);
    at->handle = handle;
    at->count = tests->count & 63;
    at->note = TAMIS_ROW_UNKNOWN;
    put_tests(engine, &family, tests, at->tests);
    tm_box box = {.id = body};
    box_of(engine, tamis_interface_of(engine, handle), tests, &family, &box);
    if (!tm_families_insert(&engine->families, family.names, family.count, family.guard, &box)) {
        tm_arena_give(&engine->bodies, body, class_of(tests->count));
        return false;
    }
    engine->records[handle].body = body;
    tamis_lines_count(engine, tests, 1);
    return true;
}

void tamis_boxes_leave(tm_engine *engine, uint32_t handle) {
    tamis_record *record = &engine->records[handle];
    const tamis_body *body = tamis_body_at(engine, record->body);
    tm_family *family = tm_family_of(leaf_of(body));
    tamis_tests tests;
    tamis_boxes_tests(engine, handle, &tests);
    tamis_lines_count(engine, &tests, UINT32_MAX);
    bool is_last = family->tree.count == 1;
    tm_families_remove(&engine->families, leaf_of(body), record->body);
    tm_arena_give(&engine->bodies, record->body, class_of(body->count));
    record->body = 0;
    bool is_small = !is_last && family->tree.names > 1 && family->tree.count < TAMIS_BOXES_LEFT &&
                    family->guard == TM_FAMILY_UNGUARDED;
    if (is_small && !engine->scatters) {
        engine->shrunken = family;
    }
}

/* ---- from buckets and back ---- */

static bool is_of_family(const tm_engine *engine, const tamis_entry *entry, const family_names *family) {
    tamis_tests tests;
    family_names names;
    tamis_tests_of_entry(engine, entry, &tests);
    find_names(engine, &tests, &names);
    return same_names(&names, family);
}

/* Of so many entries of the bucket, here and there: how many are of the family? They and their bodies lie far apart:
 * all are asked for before the first is looked at. */
static uint32_t alike_among(const tm_engine *engine, const tamis_slot *slot, const family_names *family,
                            uint32_t samples) {
    const tamis_entry *each[SAMPLES_MORE];
    const tamis_entry *entries = tamis_slot_entries(&engine->buckets, slot);
    for (uint32_t i = 0; i < samples; i++) {
        each[i] = &entries[(engine->holders->count * 7 + i * slot->entry_count / samples) % slot->entry_count];
        __builtin_prefetch(each[i]);
    }
    for (uint32_t i = 0; i < samples; i++) {
        tamis_ask_entries(engine, each[i], 1);
    }
    uint32_t alike = 0;
    for (uint32_t i = 0; i < samples; i++) {
        alike += is_of_family(engine, each[i], family);
    }
    return alike;
}

/* Do entries of the bucket look as if `least` of it were of the family? A few tell mostly that they are not; where they
 * do not, more are asked, as looking at all takes a millisecond. */
static bool looks_promising(const tm_engine *engine, const tamis_slot *slot, const family_names *family,
                            uint32_t least) {
    return alike_among(engine, slot, family, SAMPLES) >= SAMPLES_ALIKE &&
           (uint64_t)alike_among(engine, slot, family, SAMPLES_MORE) * slot->entry_count >=
               (uint64_t)SAMPLES_MORE * least;
}

/* The filters of the family in this part of the bucket, at most MOVES_MAX. */
static uint32_t find_alike(const tm_engine *engine, const tamis_slot *slot, const family_names *family,
                           uint32_t *handles) {
    const tamis_entry *entries = tamis_slot_entries(&engine->buckets, slot);
    uint32_t count = 0;
    for (uint32_t i = 0; i < slot->entry_count && count < MOVES_MAX; i++) {
        if (is_of_family(engine, &entries[i], family)) {
            handles[count++] = tamis_handle_of_entry(engine, &entries[i]);
        }
    }
    return count;
}

void tamis_boxes_gather(tm_engine *engine, uint64_t bucket, const tamis_tests *tests, uint32_t least) {
    const tamis_slot *slot = tamis_buckets_find(&engine->buckets, bucket);
    if (slot == NULL || slot->entry_count < least || engine->scatters) {
        return;
    }
    family_names family;
    find_names(engine, tests, &family);
    if (!is_family(&family) || !looks_promising(engine, slot, &family, least)) {
        return;
    }
    uint32_t handles[MOVES_MAX];
    uint32_t count = find_alike(engine, slot, &family, handles);
    for (uint32_t i = 0; i < count && count >= least; i++) {
        if (!tamis_move_anew(engine, handles[i], true)) {
            return;
        }
    }
}

void tamis_boxes_scatter(tm_engine *engine) {
    const tm_family *family = engine->shrunken;
    uint32_t bodies[TAMIS_BOXES_LEFT];
    if (family == NULL) {
        return;
    }
    engine->shrunken = NULL;
    engine->scatters = true;
    uint32_t count = tm_boxes_ids(&family->tree, bodies, TAMIS_BOXES_LEFT);
    for (uint32_t i = 0; i < count; i++) {
        if (!tamis_move_anew(engine, tamis_body_at(engine, bodies[i])->handle, false)) {
            break;
        }
    }
    engine->scatters = false;
}

/* Would a filter in the family without a guard that these names have stand behind one by now? TAMIS_NONE: the one
 * looked at would not, or there is none. */
static uint32_t handle_to_follow(const tm_engine *engine, family_names *family) {
    family->guard = TAMIS_NO_TEST;
    const tm_family *open = family_of(engine, family);
    uint32_t body;
    tamis_tests tests;
    if (open == NULL || tm_boxes_ids(&open->tree, &body, 1) == 0) {
        return TAMIS_NONE;
    }
    uint32_t handle = tamis_body_at(engine, body)->handle;
    tamis_boxes_tests(engine, handle, &tests);
    choose_guard(engine, &tests, family);
    return family->guard == TAMIS_NO_TEST ? TAMIS_NONE : handle;
}

void tamis_boxes_follow(tm_engine *engine, const tamis_tests *tests) {
    family_names family;
    if (engine->follows || engine->families.guarded == 0) {
        return;
    }
    find_names(engine, tests, &family);
    choose_guard(engine, tests, &family);
    if (family.guard == TAMIS_NO_TEST) {
        return;
    }
    engine->follows = true;
    for (uint32_t i = 0; i < FOLLOW_AT_ONCE; i++) {
        uint32_t handle = handle_to_follow(engine, &family);
        if (handle == TAMIS_NONE || !tamis_move_anew(engine, handle, false)) {
            break;
        }
    }
    engine->follows = false;
}

/* ---- beside a bucket ---- */

/* Do many filters that make the test stand elsewhere than under it? They have left its bucket, which need not fill up
 * again for those that come. */
static bool is_relieved(const tm_engine *engine, tamis_test access, uint64_t bucket) {
    tamis_crowd crowd = tamis_buckets_crowd(&engine->buckets, bucket);
    uint32_t here = crowd.entries + crowd.singles + tamis_filters_behind(&engine->buckets, crowd.opened);
    return tamis_users_of(engine, access) >= here + TAMIS_BUCKET_FULL;
}

bool tamis_boxes_relieve(const tm_engine *engine, const tamis_tests *tests, tamis_test access) {
    uint64_t bucket = tamis_bucket_of_test(access);
    if (bucket == 0 || engine->families.boxes == 0 || !tamis_boxes_take(engine, tests)) {
        return false;
    }
    if (is_relieved(engine, access, bucket)) {
        return true;
    }
    bucket = tamis_alike_end(engine, bucket, tests, 0, &(double){1});
    const tamis_slot *slot = tamis_buckets_find(&engine->buckets, bucket);
    return slot != NULL && slot->entry_count >= TAMIS_BOXES_MIN;
}

/* ---- validation ---- */

static bool makes(const tamis_tests *tests, tamis_test guard) {
    bool found = guard == TAMIS_NO_TEST;
    for (uint32_t i = 0; i < tests->count; i++) {
        found |= tests->tests[i] == guard;
    }
    return found;
}

static bool is_at(const void *owner, uint32_t id, const tm_box_node *leaf) {
    const tm_engine *engine = owner;
    const tamis_body *body = tamis_body_at(engine, id);
    const tamis_record *record = &engine->records[body->handle];
    if (record->place != TAMIS_IN_BOXES || record->body != id || leaf_of(body) != leaf) {
        return false;
    }
    tamis_tests tests;
    family_names family;
    tm_box kept;
    tm_box expected = {.id = id};
    tamis_boxes_tests(engine, body->handle, &tests);
    find_names(engine, &tests, &family);
    family.guard = tm_family_of(leaf)->guard;
    box_of(engine, tamis_interface_of(engine, body->handle), &tests, &family, &expected);
    tm_boxes_at(leaf, id, &kept);
    return family.count == tm_family_of(leaf)->tree.names && makes(&tests, family.guard) &&
           memcmp(family.names, tm_family_of(leaf)->names, sizeof *family.names * family.count) == 0 &&
           memcmp(kept.ends, expected.ends, sizeof(double) * 2 * family.count) == 0 && kept.strict == expected.strict &&
           kept.payload == expected.payload && kept.track == expected.track;
}

int tamis_boxes_validate(const tm_engine *engine, const char **reason) {
    uint32_t boxes = 0;
    for (uint32_t handle = 0; handle < engine->holders->count; handle++) {
        boxes += engine->records[handle].place == TAMIS_IN_BOXES;
    }
    if (boxes != engine->families.boxes || engine->shrunken != NULL || engine->scatters) {
        *reason = "a count of boxes is wrong, or some were about to leave";
        return TM_MISUSED;
    }
    return tm_families_validate(&engine->families, is_at, reason);
}
