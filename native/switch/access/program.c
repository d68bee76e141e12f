/* program.c - see program.h.
 *
 * A program is made from its end, so that the steps to which a test leads exist before it: denied filters, then allowed
 * ones, and in each filter the last test first.
 */
#include "switch/access/program.h"

#include "switch/access/guard.h"

const tm_step program_unsure = {.form = STEP_UNSURE};

/* ---- which constraints are fast ---- */

static bool is_short_text(const tm_value *operand) {
    return operand->kind == TM_KIND_STRING && operand->length > 0 && operand->length <= WORDS_BYTES;
}

static bool is_set_of_texts(const tm_constraint *constraint) {
    bool is_set = constraint->op == TM_OP_IN;
    for (uint32_t i = 0; i < constraint->operand_count && is_set; i++) {
        is_set = is_short_text(&constraint->operands[i]);
    }
    return is_set;
}

static bool is_comparison(const tm_constraint *constraint) {
    tm_test_form form = constraint->operand_count > 0 ? tm_test_form_of(constraint) : TM_TEST_ANY;
    return form == TM_TEST_INTEGER || (form == TM_TEST_TEXT && is_short_text(constraint->operands));
}

uint32_t program_room(const tm_constraint *constraints, size_t count) {
    uint32_t room = 0;
    for (size_t i = 0; i < count; i++) {
        const tm_constraint *constraint = &constraints[i];
        bool is_fast = constraint->op == TM_OP_EXISTS || is_set_of_texts(constraint) || is_comparison(constraint);
        room += is_fast ? constraint->operand_count : PROGRAM_STEPS_MAX + 1;
    }
    return room;
}

/* ---- making a program ---- */

typedef struct maker {
    tm_step *free; /* the next step to be written */
    const tm_attribute *attributes;
} maker;

static const tm_step *put(maker *at, tm_step step) {
    *at->free = step;
    return at->free++;
}

static const tm_step *put_text(maker *at, const tm_attribute *value, const tm_value *operand, const tm_step *other,
                               const tm_step *equal) {
    tm_step step = {.form = operand->length > 8 ? STEP_LONG_TEXT : STEP_TEXT,
                    .value = value,
                    .equal = equal,
                    .less = other,
                    .mask = words_mask(operand->length).low,
                    .length = operand->length};
    memcpy(&step.text, operand->string, operand->length);
    return put(at, step);
}

/* Write the steps of a test; `on` is where it leads if it holds (1) and if not (0). Returns the first of them. */
static const tm_step *put_test(maker *at, const tm_guard_test *test, uint8_t place, const tm_step *const on[2]) {
    const tm_constraint *constraint = &test->test.constraint;
    const tm_step *other = on[constraint->negated];
    if (place == GUARD_ABSENT) {
        return other;
    }
    if (constraint->op == TM_OP_EXISTS) {
        return on[!constraint->negated];
    }
    const tm_attribute *value = &at->attributes[place];
    unsigned holds = test->test.holds; /* by order (model/order.h) */
    if (constraint->op != TM_OP_IN && test->test.form == TM_TEST_INTEGER) {
        return put(at, (tm_step){.form = STEP_INTEGER,
                                 .value = value,
                                 .integer = test->test.integer,
                                 .less = on[holds & 1],
                                 .equal = on[holds >> 1 & 1],
                                 .greater = on[holds >> 2 & 1]});
    }
    if (constraint->op != TM_OP_IN) {
        return put_text(at, value, constraint->operands, on[holds & 1], on[holds >> 1 & 1]);
    }
    for (uint32_t i = constraint->operand_count; i-- > 0;) {
        other = put_text(at, value, &constraint->operands[i], other, on[!constraint->negated]);
    }
    return other;
}

/* Write the steps of a filter whose tests end before `end`; `on` is where it leads if it is satisfied and if not. */
static const tm_step *put_filter(maker *at, const tm_guard_test *end, const uint8_t *places_end, uint32_t count,
                                 const tm_step *const on[2]) {
    const tm_step *first = on[1];
    for (uint32_t i = 1; i <= count; i++) {
        first = put_test(at, end - i, places_end[-(ptrdiff_t)i], (const tm_step *const[2]){on[0], first});
    }
    return first;
}

const tm_step *program_make(tm_step *steps, const tm_guard *guard, const uint8_t *places,
                            const tm_attribute *attributes) {
    maker at = {steps, attributes};
    const tm_step *refused = put(&at, (tm_step){.form = STEP_REFUSED});
    const tm_step *allowed = put(&at, (tm_step){.form = STEP_ALLOWED});
    const tm_step *denials = allowed; /* the first step of the denied filters */
    const tm_step *first = refused;   /* the first step of the allowed filters */
    uint32_t end = guard->test_count;
    for (uint32_t i = guard->filter_count; i-- > 0;) {
        const tm_guard_filter *filter = &guard->filters[i];
        if (filter->denies) {
            denials = put_filter(&at, guard->tests + end, places + end, filter->count,
                                 (const tm_step *const[2]){denials, refused});
        } else {
            first = put_filter(&at, guard->tests + end, places + end, filter->count,
                               (const tm_step *const[2]){first, denials});
        }
        end -= filter->count;
    }
    return first;
}
