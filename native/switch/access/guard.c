/* guard.c - see guard.h. */
#include "switch/access/guard.h"

#include "base/grow.h"

#define OWN_NAME "${name}"
#define OWN_NAME_SIZE (sizeof OWN_NAME - 1)

/* ---- making and freeing ---- */

static bool is_of_name(const tm_constraint *constraint) {
    const tm_value *operand = constraint->operands;
    return (constraint->op == TM_OP_EQ || constraint->op == TM_OP_NE) && operand->kind == TM_KIND_STRING &&
           operand->length == OWN_NAME_SIZE && memcmp(operand->string, OWN_NAME, OWN_NAME_SIZE) == 0;
}

/* Release what a guard owns, which may be made in part. */
static void clear(tm_memory *memory, tm_guard *guard) {
    for (uint32_t i = 0; i < guard->filter_count; i++) {
        tm_free_counted(memory, TM_HOT, guard->filters[i].block, guard->filters[i].block_bytes);
    }
    TM_DELETE(memory, TM_HOT, guard->filters, tm_guard_filter, guard->filter_room);
    TM_DELETE(memory, TM_HOT, guard->tests, tm_guard_test, guard->test_room);
    TM_DELETE(memory, TM_HOT, guard->places, uint8_t, guard->test_room *SWITCH_FORMS);
    TM_DELETE(memory, TM_HOT, guard->steps, tm_step, guard->step_room * SWITCH_FORMS);
    TM_DELETE(memory, TM_COLD, guard->reasons, uint8_t, guard->reason_bytes);
    TM_DELETE(memory, TM_COLD, guard->reason_ends, uint64_t, guard->reason_count);
    *guard = (tm_guard){0};
}

static const uint8_t *filter_at(const tm_guard_rules *rules, size_t i, size_t *size) {
    uint64_t begin = i == 0 ? 0 : rules->filter_ends[i - 1];
    *size = rules->filter_ends[i] - begin;
    return rules->bytes + begin;
}

/* Count the tests of all filters with their steps as the room of a guard, and the reasons that belong to them. */
static int measure(const tm_guard_rules *rules, tm_filter *parsed, tm_guard *guard, size_t *reasons) {
    size_t denied = rules->filters - rules->allowed;
    size_t count = 0;
    *reasons = denied + 1;
    for (size_t i = 0; i < rules->filters; i++) {
        size_t size;
        const uint8_t *bytes = filter_at(rules, i, &size);
        int result = tm_filter_parse(bytes, size, parsed);
        if (result != TM_OK) {
            return result;
        }
        count += parsed->count;
        guard->step_room += program_room(parsed->constraints, parsed->count);
        *reasons += i < rules->allowed ? parsed->count : 0;
        if (count + rules->filters > TM_GUARD_TESTS_MAX) {
            return TM_TOO_MANY;
        }
    }
    guard->filter_room = (uint32_t)rules->filters + 1; /* so that neither array is NULL */
    guard->test_room = (uint32_t)count + 1;
    guard->step_room = guard->step_room <= PROGRAM_STEPS_MAX ? guard->step_room + PROGRAM_ENDS : 0;
    return TM_OK;
}

static bool add_filter(tm_memory *memory, tm_guard *guard, const tm_filter *parsed, bool denies) {
    tm_guard_filter *filter = &guard->filters[guard->filter_count];
    filter->block_bytes = tm_filter_copy_bytes(parsed) + 1; /* one more, since a filter may be empty */
    filter->block = tm_alloc_counted(memory, TM_HOT, filter->block_bytes);
    if (filter->block == NULL) {
        return false;
    }
    filter->count = (uint32_t)parsed->count;
    filter->denies = denies;
    guard->filter_count++;
    const tm_constraint *constraints = tm_filter_copy(parsed, filter->block);
    for (uint32_t i = 0; i < filter->count; i++) {
        tm_guard_test *test = &guard->tests[guard->test_count++];
        test->test = tm_test_of(&constraints[i]);
        test->is_of_name = is_of_name(&constraints[i]);
        guard->asks_name |= test->is_of_name;
    }
    return true;
}

static bool copy_reasons(tm_memory *memory, tm_guard *guard, const tm_guard_rules *rules) {
    if (rules->reasons == NULL) {
        return true;
    }
    guard->reason_count = (uint32_t)rules->reason_count;
    guard->reason_bytes = rules->reason_ends[rules->reason_count - 1] + 1;
    guard->reason_ends = TM_NEW(memory, TM_COLD, uint64_t, guard->reason_count);
    guard->reasons = TM_NEW(memory, TM_COLD, uint8_t, guard->reason_bytes);
    if (guard->reason_ends == NULL || guard->reasons == NULL) {
        return false;
    }
    memcpy(guard->reason_ends, rules->reason_ends, sizeof *guard->reason_ends * guard->reason_count);
    memcpy(guard->reasons, rules->reasons, guard->reason_bytes - 1);
    return true;
}

/* Fill an empty row; on any result but TM_OK it is empty again. */
static int fill(tm_memory *memory, tm_guard *guard, const tm_guard_rules *rules, tm_filter *parsed) {
    size_t reasons;
    int result = measure(rules, parsed, guard, &reasons);
    if (result != TM_OK || (rules->reasons != NULL && rules->reason_count != reasons)) {
        *guard = (tm_guard){0};
        return result != TM_OK ? result : TM_MISUSED;
    }
    guard->filters = TM_NEW(memory, TM_HOT, tm_guard_filter, guard->filter_room);
    guard->tests = TM_NEW(memory, TM_HOT, tm_guard_test, guard->test_room);
    guard->places = TM_NEW(memory, TM_HOT, uint8_t, guard->test_room *SWITCH_FORMS);
    guard->steps = guard->step_room > 0 ? TM_NEW(memory, TM_HOT, tm_step, guard->step_room * SWITCH_FORMS) : NULL;
    bool is_made = guard->filters != NULL && guard->tests != NULL && guard->places != NULL &&
                   (guard->steps != NULL || guard->step_room == 0);
    for (size_t i = 0; i < rules->filters && is_made; i++) {
        size_t size;
        const uint8_t *bytes = filter_at(rules, i, &size);
        is_made =
            tm_filter_parse(bytes, size, parsed) == TM_OK && add_filter(memory, guard, parsed, i >= rules->allowed);
    }
    if (!is_made || !copy_reasons(memory, guard, rules)) {
        clear(memory, guard);
        return TM_NO_MEMORY;
    }
    return TM_OK;
}

static bool is_sound(const uint64_t *ends, size_t count) {
    uint64_t before = 0;
    for (size_t i = 0; i < count; i++) {
        if (ends[i] < before) {
            return false;
        }
        before = ends[i];
    }
    return true;
}

/* Return a free row, or NULL. */
static tm_guard *new_row(tm_switch *sw) {
    tm_guards *guards = sw->guards;
    if (guards->free != 0) {
        return &guards->rows[guards->free - 1];
    }
    if (!tm_grow(&sw->memory, TM_HOT, &guards->rows, sizeof *guards->rows, &guards->capacity, guards->count + 1)) {
        return NULL;
    }
    return &guards->rows[guards->count];
}

bool switch_begin_guards(tm_switch *sw) {
    if (sw->guards != NULL) {
        return true;
    }
    sw->guards = TM_NEW(&sw->memory, TM_HOT, tm_guards, 1);
    sw->has_door |= sw->guards != NULL;
    return sw->guards != NULL;
}

static void keep_names(tm_switch *sw, const tm_guard *guard) {
    for (uint32_t i = 0; i < guard->test_count; i++) {
        const tm_constraint *constraint = &guard->tests[i].test.constraint;
        switch_keep_name(sw, constraint->name, constraint->name_length);
    }
}

int tm_switch_guard_new(tm_switch *sw, const tm_guard_rules *rules, uint32_t *out) {
    if (sw == NULL || rules == NULL || out == NULL || rules->allowed > rules->filters ||
        !is_sound(rules->filter_ends, rules->filters) ||
        (rules->reasons != NULL && (rules->reason_count == 0 || !is_sound(rules->reason_ends, rules->reason_count)))) {
        return TM_MISUSED;
    }
    if (!switch_begin_guards(sw)) {
        return TM_NO_MEMORY;
    }
    if (sw->guards->in_use == TM_GUARDS_MAX) {
        return TM_TOO_MANY;
    }
    tm_filter *parsed = TM_NEW(&sw->memory, TM_COLD, tm_filter, 1);
    tm_guard *guard = parsed != NULL ? new_row(sw) : NULL;
    uint32_t next_free = guard != NULL ? guard->users : 0;
    int result = guard != NULL ? fill(&sw->memory, guard, rules, parsed) : TM_NO_MEMORY;
    TM_DELETE(&sw->memory, TM_COLD, parsed, tm_filter, 1);
    if (result != TM_OK) {
        if (guard != NULL) {
            guard->users = next_free;
        }
        return result;
    }
    tm_guards *guards = sw->guards;
    uint32_t row = (uint32_t)(guard - guards->rows);
    guards->free = row == guards->count ? 0 : next_free;
    guards->count += row == guards->count;
    guards->in_use++;
    guard->users = 0;
    keep_names(sw, guard);
    *out = row + 1;
    return TM_OK;
}

/* true if a guard of that number exists */
static bool knows(const tm_switch *sw, uint32_t guard) {
    return sw != NULL && sw->guards != NULL && guard - 1 < sw->guards->count && guard_at(sw, guard)->filters != NULL;
}

int tm_switch_guard_free(tm_switch *sw, uint32_t guard) {
    if (!knows(sw, guard)) {
        return TM_ABSENT;
    }
    if (guard_at(sw, guard)->users > 0) {
        return TM_MISUSED;
    }
    clear(&sw->memory, guard_at(sw, guard));
    guard_at(sw, guard)->users = sw->guards->free;
    sw->guards->free = guard;
    sw->guards->in_use--;
    return TM_OK;
}

int tm_switch_guard_figures(const tm_switch *sw, uint32_t guard, tm_guard_stats *out) {
    if (!knows(sw, guard) || out == NULL) {
        return TM_ABSENT;
    }
    *out = guard_at(sw, guard)->stats;
    return TM_OK;
}

void switch_free_guards(tm_switch *sw) {
    tm_guards *guards = sw->guards;
    if (guards == NULL) {
        return;
    }
    for (uint32_t row = 0; row < guards->count; row++) {
        if (guards->rows[row].filters != NULL) {
            clear(&sw->memory, &guards->rows[row]);
        }
    }
    TM_DELETE(&sw->memory, TM_HOT, guards->guarded, tm_guarded *, guards->guarded_room);
    TM_DELETE(&sw->memory, TM_HOT, guards->rows, tm_guard, guards->capacity);
    TM_DELETE(&sw->memory, TM_HOT, guards->frame, uint8_t, guards->frame_capacity);
    TM_DELETE(&sw->memory, TM_HOT, guards, tm_guards, 1);
    sw->guards = NULL;
}

/* ---- evaluating ---- */

/* Look up the attribute of each test in the shape of a form, and make a program if the guard is small. */
static __attribute__((noinline)) void note_shape(const tm_switch *sw, tm_guard *guard, const tm_form *form) {
    size_t at = form->number;
    uint8_t *row = guard->places + at * guard->test_room;
    for (uint32_t i = 0; i < guard->test_count; i++) {
        const tm_constraint *constraint = &guard->tests[i].test.constraint;
        uint32_t place = tm_shape_find(&form->shape, constraint->name, constraint->name_length);
        row[i] = place == SHAPE_NONE ? GUARD_ABSENT : (uint8_t)place;
    }
    bool is_cheap = guard->test_count <= sw->work.steps_max;
    guard->programs[at] = guard->steps != NULL && is_cheap && !guard->asks_name
                              ? program_make(guard->steps + at * guard->step_room, guard, row, sw->attributes)
                              : &program_unsure;
    guard->versions[at] = form->shape.version;
}

/* Return the attribute of each test in messages of this form. */
static const uint8_t *places_of(const tm_switch *sw, tm_guard *guard, const tm_form *form) {
    size_t at = form->number;
    if (guard->versions[at] != form->shape.version) {
        note_shape(sw, guard, form);
    }
    return guard->places + at * guard->test_room;
}

static bool holds_of_name(const tm_constraint *constraint, const tm_attribute *value, const tm_guarded *guarded) {
    tm_value name = {.string = guarded_name(guarded), .length = guarded->name_size, .kind = TM_KIND_STRING};
    tm_constraint bound = *constraint;
    bound.operands = &name;
    return tm_constraint_holds(&bound, value);
}

/* What a guard is asked about. */
typedef struct tm_guard_question {
    const tm_attribute *attributes;
    const tm_guarded *guarded;
    tm_work work; /* of its own, so that a costly match does not decide what a client may get */
} tm_guard_question;

static tm_guard_question question(const tm_switch *sw, const tm_guarded *guarded) {
    return (tm_guard_question){sw->attributes, guarded, {.steps = 0, .steps_max = sw->work.steps_max}};
}

static inline bool holds(tm_guard_question *of, const tm_guard_test *test, uint8_t place) {
    if (place == GUARD_ABSENT) {
        return test->test.constraint.negated;
    }
    const tm_attribute *value = &of->attributes[place];
    return test->is_of_name ? holds_of_name(&test->test.constraint, value, of->guarded)
                            : tm_test_holds(&test->test, value, &of->work);
}

/* Denied filters come last: a message that none allows is not tested by them. */
static bool evaluate(tm_guard_question *of, const tm_guard *guard, const uint8_t *places) {
    const tm_guard_test *tests = guard->tests;
    bool is_allowed = false;
    of->work.steps += guard->test_count;
    for (uint32_t i = 0; i < guard->filter_count; i++) {
        const tm_guard_filter *filter = &guard->filters[i];
        if (filter->denies && !is_allowed) {
            return false;
        }
        if (filter->denies || !is_allowed) {
            uint32_t held = 0;
            while (held < filter->count && holds(of, &tests[held], places[held])) {
                held++;
            }
            if (held == filter->count && filter->denies) {
                return false;
            }
            is_allowed |= held == filter->count;
        }
        tests += filter->count;
        places += filter->count;
    }
    return is_allowed && !tm_work_is_over(&of->work);
}

bool guard_judges(tm_switch *sw, tm_guard *guard, const tm_guarded *guarded, const tm_message *message) {
    const uint8_t *places = places_of(sw, guard, message->form);
    tm_step_form end = program_run(guard->programs[message->form->number]);
    guard->stats.judged++;
    if (end != STEP_UNSURE) {
        return end == STEP_ALLOWED;
    }
    tm_guard_question of = question(sw, guarded);
    return evaluate(&of, guard, places);
}

/* A message is known by its number here, as a neighbour may send another one with the identity of an earlier one. */
bool guard_passes(tm_switch *sw, tm_guard *guard, const tm_guarded *guarded, const tm_message *message) {
    if (guard->asks_name || guard->judged != sw->stats.messages_in) {
        guard->has_passed = guard_judges(sw, guard, guarded, message);
        guard->judged = sw->stats.messages_in;
    }
    return guard->has_passed;
}

static uint8_t place_of(const tm_constraint *constraint, const tm_attribute *attributes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (attributes[i].name_length == constraint->name_length &&
            memcmp(attributes[i].name, constraint->name, constraint->name_length) == 0) {
            return (uint8_t)i;
        }
    }
    return GUARD_ABSENT;
}

bool guard_passes_attributes(const tm_switch *sw, tm_guard *guard, const tm_guarded *guarded,
                             const tm_attribute *attributes, size_t count) {
    uint8_t places[TM_GUARD_TESTS_MAX];
    for (uint32_t i = 0; i < guard->test_count; i++) {
        places[i] = place_of(&guard->tests[i].test.constraint, attributes, count);
    }
    tm_guard_question of = question(sw, guarded);
    of.attributes = attributes;
    guard->stats.judged++;
    return evaluate(&of, guard, places);
}

/* ---- reasons ---- */

/* Return how many tests of a filter fail, and the first of them in `*first`. */
static uint32_t failing(tm_guard_question *of, const tm_guard *guard, const uint8_t *places, uint32_t begin,
                        uint32_t count, uint32_t *first) {
    uint32_t found = 0;
    for (uint32_t i = begin; i < begin + count; i++) {
        if (!holds(of, &guard->tests[i], places[i])) {
            *first = found++ == 0 ? i : *first;
        }
    }
    return found;
}

/* Return the reason that decided: those of allowed tests come first, then those of denied filters, then the last. */
static uint32_t deciding(tm_switch *sw, tm_guard *guard, const tm_guarded *guarded, const tm_message *message) {
    const uint8_t *places = places_of(sw, guard, message->form);
    tm_guard_question of = question(sw, guarded);
    uint32_t begin = 0;
    uint32_t allowed_tests = 0;
    uint32_t denied = 0;
    uint32_t fewest = UINT32_MAX;
    uint32_t best = guard->reason_count - 1;
    for (uint32_t i = 0; i < guard->filter_count; i++) {
        const tm_guard_filter *filter = &guard->filters[i];
        uint32_t first = begin;
        uint32_t count = failing(&of, guard, places, begin, filter->count, &first);
        begin += filter->count;
        if (!filter->denies) {
            allowed_tests = begin;
            best = count < fewest && count > 0 ? first : best;
            fewest = count < fewest ? count : fewest;
        } else if (count == 0) {
            return allowed_tests + denied;
        }
        denied += filter->denies;
    }
    return best;
}

void guard_say(tm_switch *sw, tm_guard *guard, const tm_guarded *guarded, const tm_message *message, char *text) {
    static const char plain[] = "the rules of access do not allow this message";
    const uint8_t *reason = (const uint8_t *)plain;
    uint64_t size = sizeof plain - 1;
    if (guard->reason_count > 0) {
        uint32_t at = deciding(sw, guard, guarded, message);
        uint64_t begin = at == 0 ? 0 : guard->reason_ends[at - 1];
        reason = guard->reasons + begin;
        size = guard->reason_ends[at] - begin;
    }
    size = size < TM_REASON_BYTES_MAX ? size : TM_REASON_BYTES_MAX;
    memcpy(text, reason, size);
    text[size] = 0;
}
