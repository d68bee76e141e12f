/* boxes.c - makes boxes of filters of ranges, and removes them. Law: see boxes.h. */
#include "engines/onepath/paths/boxes.h"

#include <string.h>

#include "engines/boxes/box.h"
#include "engines/onepath/paths/guard_rows.h"
#include "engines/onepath/paths/lines.h"
#include "engines/onepath/records.h"
#include "engines/onepath/values/compile.h"

#define EQUALITIES_UP_TO 8U /* names of a box */

/* ---- a filter as a box ---- */

bool onepath_family_name_of(const tm_engine *engine, onepath_test test, uint32_t *name) {
    unsigned op = onepath_test_op(test);
    unsigned kind = op == ONEPATH_STRING_EQ ? ONEPATH_BY_CONSTANT : onepath_kind_of(engine, test);
    *name = onepath_test_name(test) << 2 | kind;
    bool is_equality = op == ONEPATH_NUMBER_EQ || op == ONEPATH_STRING_EQ || op == ONEPATH_BOOLEAN_EQ;
    return onepath_is_bound(test) || (is_equality && !onepath_test_negated(test));
}

/* Insert a name into sorted names, of which only the first `most` are kept. */
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

static bool has_name(const onepath_family_names *family, uint32_t name) {
    for (uint32_t i = 0; i < family->count; i++) {
        if (family->names[i] == name) {
            return true;
        }
    }
    return false;
}

void onepath_family_names_of(const tm_engine *engine, const onepath_tests *tests, onepath_family_names *out) {
    uint32_t name;
    *out = (onepath_family_names){.guard = ONEPATH_NO_TEST};
    for (uint32_t i = 0; i < tests->count; i++) {
        if (onepath_is_bound(tests->tests[i]) && onepath_family_name_of(engine, tests->tests[i], &name)) {
            out->bounds++;
            put_name(out->names, &out->count, TM_BOX_NAMES_MAX, name);
        }
    }
    onepath_family_names equal = {.count = 0};
    uint32_t room = out->count < EQUALITIES_UP_TO ? EQUALITIES_UP_TO - out->count : 0;
    for (uint32_t i = 0; i < tests->count; i++) {
        if (!onepath_is_bound(tests->tests[i]) && onepath_family_name_of(engine, tests->tests[i], &name) &&
            !has_name(out, name)) {
            put_name(equal.names, &equal.count, room, name);
        }
    }
    for (uint32_t i = 0; i < equal.count; i++) {
        put_name(out->names, &out->count, TM_BOX_NAMES_MAX, equal.names[i]);
    }
}

bool onepath_family_is_one(const onepath_family_names *family) {
    return family->count >= 2 && family->bounds > 0;
}

bool onepath_family_same_names(const onepath_family_names *a, const onepath_family_names *b) {
    return a->count == b->count && memcmp(a->names, b->names, sizeof *a->names * a->count) == 0;
}

/* The bound of a test: its value and its kind. */
typedef struct bound {
    double at;
    bool is_low;
    bool is_high;
    bool is_strict;
} bound;

static bool bound_of_number(const tm_engine *engine, onepath_test test, bound *out) {
    unsigned op = onepath_test_op(test);
    if (onepath_op_is_wide(op)) {
        int64_t integer;
        double real;
        bool is_real = onepath_number_of_bytes(
            onepath_string_text(&engine->numbers.records[onepath_test_operand(test)]), &integer, &real);
        tm_box_value value = tm_box_value_of(is_real, integer, real);
        bool is_low = op >= ONEPATH_WIDE_GT;
        bool is_float = value.below == value.above; /* no double: it does not bound the box */
        *out = (bound){value.below, is_float && is_low, is_float && !is_low,
                       op == ONEPATH_WIDE_LT || op == ONEPATH_WIDE_GT};
        return is_float;
    }
    int32_t code = (int32_t)onepath_test_operand(test);
    bool is_strict = code % 2 != 0; /* between two integers: see compile.c */
    int32_t out_of = op == ONEPATH_NUMBER_GE ? -1 : 1;
    double at = ((double)code + (is_strict ? out_of : 0)) / 2;
    *out = (bound){at, op != ONEPATH_NUMBER_LE, op != ONEPATH_NUMBER_GE, is_strict};
    return true;
}

/* Return the bound of a test; false if a box does not express all of it. */
static bool bound_of(const tm_engine *engine, onepath_test test, bound *out) {
    unsigned op = onepath_test_op(test);
    if (op == ONEPATH_STRING_EQ || op == ONEPATH_BOOLEAN_EQ) {
        *out = (bound){onepath_test_operand(test), true, true, false};
        return true;
    }
    return bound_of_number(engine, test, out);
}

/* Narrow the box by a bound on a string. */
static void narrow_text(const tm_engine *engine, uint32_t names, uint32_t at, onepath_test test, tm_box *box) {
    unsigned op = onepath_test_op(test);
    bool is_low = op >= ONEPATH_STRING_GT;
    unsigned side = op == ONEPATH_STRING_GT ? TM_BOX_ABOVE : op == ONEPATH_STRING_LT ? TM_BOX_BELOW : TM_BOX_AT;
    tm_box_narrow_labelled(box, names, at, is_low, tm_box_constant(onepath_test_operand(test), side),
                           engine->strings.labels);
}

/* Narrow the box by a test; false if neither the box nor the guard of the family expresses all of the test. */
static bool narrow(const tm_engine *engine, const onepath_family_names *family, onepath_test test, tm_box *box) {
    uint32_t name;
    uint32_t at = 0;
    bool is_said = onepath_family_name_of(engine, test, &name);
    while (at < family->count && family->names[at] != name) {
        at++;
    }
    if (!is_said || at == family->count) {
        return test == family->guard;
    }
    if ((family->names[at] & 3) == ONEPATH_STRING) {
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

/* Copy tests that the box does not express first: only those can fail for a message in the box. */
static void put_tests(const tm_engine *engine, const onepath_family_names *family, const onepath_tests *tests,
                      uint64_t *out) {
    tm_box box;
    bool is_said[ONEPATH_TESTS_MAX];
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

static void box_of(const tm_engine *engine, uint32_t interface, const onepath_tests *tests,
                   const onepath_family_names *family, tm_box *box) {
    bool says_all = true;
    tm_box_open(box, family->count);
    for (uint32_t i = 0; i < tests->count; i++) {
        says_all &= narrow(engine, family, tests->tests[i], box);
    }
    box->payload = interface | (says_all ? ONEPATH_LAST : 0);
    box->track = onepath_uses_cells(engine, interface) ? (uint16_t)interface : TM_BOX_UNTRACKED;
}

_Static_assert(ONEPATH_CELL_INTERFACES == TM_BOX_TRACKED, "what cells have, trees of boxes have");
_Static_assert(ONEPATH_NO_TEST == TM_FAMILY_UNGUARDED, "no guard is no test");
_Static_assert(ONEPATH_STRING == TM_BOX_LABELLED, "strings in order have labels");

/* ---- bodies ---- */

static unsigned class_of(uint32_t tests) {
    return tm_arena_class(2 + tests);
}

static tm_box_node *leaf_of(const onepath_body *body) {
    return (tm_box_node *)(uintptr_t)body->tests[body->count];
}

static void note_leaf(void *owner, uint32_t id, tm_box_node *leaf) {
    onepath_body *body = onepath_body_at(owner, id);
    body->tests[body->count] = (uintptr_t)leaf;
}

static bool fails_with(const void *owner, uint64_t first, uint64_t other) {
    return onepath_guard_fails_with(owner, first, other);
}

void onepath_boxes_init(tm_engine *engine) {
    tm_families_init(&engine->families, engine->memory, note_leaf, engine);
    engine->families.fails_with = fails_with;
    engine->families.labels = (const int64_t *const *)&engine->strings.labels;
}

void onepath_boxes_tests(const tm_engine *engine, uint32_t handle, onepath_tests *out) {
    const onepath_body *body = onepath_body_at(engine, engine->records[handle].body);
    out->count = body->count;
    memcpy(out->tests, body->tests, sizeof(onepath_test) * body->count);
}

/* Prefetch a box; counts names by neighbours, as tests of one name are usually adjacent. */
void onepath_boxes_ask(const tm_engine *engine, uint32_t handle, const onepath_tests *tests) {
    uint32_t names = tests->count > 0;
    for (uint32_t i = 1; i < tests->count && names < TM_BOX_NAMES_MAX; i++) {
        names += onepath_test_name(tests->tests[i]) != onepath_test_name(tests->tests[i - 1]);
    }
    tm_boxes_ask(leaf_of(onepath_body_at(engine, engine->records[handle].body)), names);
}

void onepath_boxes_ask_bounds(const tm_engine *engine, uint32_t handle) {
    tm_boxes_ask_bounds(leaf_of(onepath_body_at(engine, engine->records[handle].body)));
}

/* ---- in and out ---- */

tm_family *onepath_family_find(const tm_engine *engine, const onepath_family_names *family) {
    return tm_families_find(&engine->families, family->names, family->count, family->guard);
}

bool onepath_boxes_enter(tm_engine *engine, uint32_t handle, const onepath_tests *tests,
                         const onepath_family_names *family) {
    uint32_t body = tm_arena_take(&engine->bodies, class_of(tests->count));
    if (body & ONEPATH_LAST) { /* a record's body has no such bit */
        tm_arena_give(&engine->bodies, body, class_of(tests->count));
        return false;
    }
    if (body == 0) {
        return false;
    }
    onepath_body *at = onepath_body_at(engine, body);
    at->handle = handle;
    at->count = tests->count & 63;
    at->note = ONEPATH_ROW_UNKNOWN;
    put_tests(engine, family, tests, at->tests);
    tm_box box = {.id = body};
    box_of(engine, onepath_interface_of(engine, handle), tests, family, &box);
    if (!tm_families_insert(&engine->families, family->names, family->count, family->guard, &box)) {
        tm_arena_give(&engine->bodies, body, class_of(tests->count));
        return false;
    }
    engine->records[handle].body = body;
    onepath_lines_count(engine, tests, 1);
    return true;
}

bool onepath_family_is_small(const tm_family *family) {
    return family->tree.names > 1 && family->tree.count < ONEPATH_BOXES_LEFT && family->guard == TM_FAMILY_UNGUARDED;
}

tm_family *onepath_family_of(const tm_engine *engine, uint32_t handle) {
    return tm_family_of(leaf_of(onepath_body_at(engine, engine->records[handle].body)));
}

uint32_t onepath_boxes_leave(tm_engine *engine, uint32_t handle) {
    onepath_record *record = &engine->records[handle];
    const onepath_body *body = onepath_body_at(engine, record->body);
    const tm_family *family = onepath_family_of(engine, handle);
    onepath_tests tests;
    onepath_boxes_tests(engine, handle, &tests);
    onepath_lines_count(engine, &tests, UINT32_MAX);
    bool is_last = family->tree.count == 1;
    tm_families_remove(&engine->families, leaf_of(body), record->body);
    tm_arena_give(&engine->bodies, record->body, class_of(body->count));
    record->body = 0;
    uint32_t other;
    if (is_last || !onepath_family_is_small(family) || tm_boxes_ids(&family->tree, &other, 1) == 0) {
        return ONEPATH_NONE;
    }
    return onepath_body_at(engine, other)->handle;
}

/* ---- validation ---- */

static bool makes(const onepath_tests *tests, onepath_test guard) {
    bool found = guard == ONEPATH_NO_TEST;
    for (uint32_t i = 0; i < tests->count; i++) {
        found |= tests->tests[i] == guard;
    }
    return found;
}

static bool is_at(const void *owner, uint32_t id, const tm_box_node *leaf) {
    const tm_engine *engine = owner;
    const onepath_body *body = onepath_body_at(engine, id);
    const onepath_record *record = &engine->records[body->handle];
    if (record->place != ONEPATH_IN_BOXES || record->body != id || leaf_of(body) != leaf) {
        return false;
    }
    onepath_tests tests;
    onepath_family_names family;
    tm_box kept;
    tm_box expected = {.id = id};
    onepath_boxes_tests(engine, body->handle, &tests);
    onepath_family_names_of(engine, &tests, &family);
    family.guard = tm_family_of(leaf)->guard;
    box_of(engine, onepath_interface_of(engine, body->handle), &tests, &family, &expected);
    tm_boxes_at(leaf, id, &kept);
    return family.count == tm_family_of(leaf)->tree.names && makes(&tests, family.guard) &&
           memcmp(family.names, tm_family_of(leaf)->names, sizeof *family.names * family.count) == 0 &&
           memcmp(kept.ends, expected.ends, sizeof(double) * 2 * family.count) == 0 && kept.strict == expected.strict &&
           kept.payload == expected.payload && kept.track == expected.track;
}

int onepath_boxes_validate(const tm_engine *engine, const char **reason) {
    uint32_t boxes = 0;
    for (uint32_t handle = 0; handle < engine->holders->count; handle++) {
        boxes += engine->records[handle].place == ONEPATH_IN_BOXES;
    }
    if (boxes != engine->families.boxes || engine->work.count != 0 || engine->scatters) {
        *reason = "a count of boxes is wrong, or work is left";
        return TM_MISUSED;
    }
    return tm_families_validate(&engine->families, is_at, reason);
}
