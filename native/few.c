/* few.c - see few.h. */
#include "few.h"

#include <string.h>

#define WAIT_MIN 8U /* messages; and one more for each filter */

/* ---- making a plan ------------------------------------------------------------------------------------------------
 */

static uint8_t orders_of(const tm_constraint *constraint) {
    static const uint8_t ORDERS[TM_OP_CONTAINS + 1] = {
        [TM_OP_LT] = 1, [TM_OP_EQ] = 2, [TM_OP_LE] = 3, [TM_OP_GT] = 4, [TM_OP_NE] = 5, [TM_OP_GE] = 6,
    };
    uint8_t orders = ORDERS[constraint->op];
    return constraint->negated ? orders ^ 7 : orders;
}

static tm_few_form form_of(const tm_constraint *constraint) {
    bool is_equality = constraint->op == TM_OP_EQ || constraint->op == TM_OP_NE;
    bool is_order = is_equality || (constraint->op >= TM_OP_GT && constraint->op <= TM_OP_LE);
    const tm_value *operand = constraint->operands;
    if (is_order && operand->kind == TM_KIND_INTEGER) {
        return FEW_INTEGER;
    }
    return is_equality && operand->kind == TM_KIND_STRING && operand->length <= WORDS_BYTES ? FEW_TEXT : FEW_ANY;
}

static bool add_test(tm_few *few, const tm_constraint *constraint, uint32_t attribute) {
    if (few->test_count == FEW_TESTS_MAX || constraint->operand_count > FEW_OPERANDS_MAX - few->operand_count) {
        return false;
    }
    tm_value *operands = few->operands + few->operand_count;
    memcpy(operands, constraint->operands, sizeof *operands * constraint->operand_count);
    few->operand_count += constraint->operand_count;
    tm_few_test *test = &few->tests[few->test_count++];
    *test = (tm_few_test){.form = (uint8_t)form_of(constraint),
                          .attribute = (uint8_t)attribute,
                          .holds = orders_of(constraint),
                          .constraint = *constraint};
    test->constraint.operands = operands;
    if (test->form == FEW_INTEGER) {
        test->integer = operands->integer;
    } else if (test->form == FEW_TEXT) {
        test->length = operands->length;
        memcpy(&test->text, operands->string, operands->length); /* the rest is zero */
    }
    return true;
}

/* A filter that no message of the shape satisfies adds nothing. false: there is no room for its tests. */
static bool add_filter(tm_few *few, const tm_filter *filter, const tm_shape *shape, tm_few_filter row) {
    uint32_t first = few->test_count;
    for (size_t i = 0; i < filter->count; i++) {
        const tm_constraint *constraint = &filter->constraints[i];
        uint32_t attribute = tm_shape_find(shape, constraint->name, constraint->name_length);
        if (attribute != SHAPE_NONE) {
            if (!add_test(few, constraint, attribute)) {
                return false;
            }
        } else if (!constraint->negated) {
            few->test_count = first;
            return true;
        }
    }
    row.test_count = few->test_count - first;
    few->filters[few->filter_count++] = row;
    return true;
}

static bool add_all(tm_few *few, const tm_subscriptions *subscriptions, const tm_shape *shape, tm_filter *parsed) {
    for (uint32_t handle = 0; handle < subscriptions->kept_capacity; handle++) {
        const tm_kept_filter *kept = &subscriptions->kept[handle];
        if (kept->subscription == SUBSCRIPTION_NONE) {
            continue;
        }
        tm_few_filter row = {.handle = handle, .interface = subscriptions->rows[kept->subscription].connection};
        if (tm_filter_parse(tm_arena_at(&subscriptions->bytes, kept->block), kept->size, parsed) != TM_OK ||
            !add_filter(few, parsed, shape, row)) {
            return false;
        }
    }
    return true;
}

static bool make(tm_few *few, const tm_subscriptions *subscriptions, const tm_shape *shape) {
    if (subscriptions->filters > FEW_FILTERS_MAX || subscriptions->kept_capacity > FEW_HANDLES_MAX) {
        return false;
    }
    tm_filter *parsed = TM_NEW(subscriptions->memory, TM_COLD, tm_filter, 1);
    few->filter_count = 0;
    few->test_count = 0;
    few->operand_count = 0;
    bool is_made = parsed != NULL && add_all(few, subscriptions, shape, parsed);
    TM_DELETE(subscriptions->memory, TM_COLD, parsed, tm_filter, 1);
    return is_made;
}

bool tm_few_is_ready(tm_few *few, const tm_subscriptions *subscriptions, const tm_shape *shape) {
    if (few->shape_version != shape->version || few->subscriptions_version != subscriptions->version) {
        few->shape_version = shape->version;
        few->subscriptions_version = subscriptions->version;
        few->wait = WAIT_MIN + subscriptions->filters;
        few->is_made = false;
    }
    if (few->wait > 0 && --few->wait == 0) {
        few->is_made = make(few, subscriptions, shape);
    }
    return few->is_made;
}

/* ---- asking -------------------------------------------------------------------------------------------------------
 */

static inline bool holds(const tm_few_test *test, const tm_attribute *attributes) {
    const tm_attribute *value = &attributes[test->attribute];
    if (test->form == FEW_INTEGER && value->kind == TM_KIND_INTEGER) {
        return test->holds >> (1 + (value->integer > test->integer) - (value->integer < test->integer)) & 1;
    }
    if (test->form == FEW_TEXT && value->kind == TM_KIND_STRING) {
        words text = words_at(value->string, test->length);
        bool is_equal = value->length == test->length && text.low == test->text.low && text.high == test->text.high;
        return test->holds >> is_equal & 1;
    }
    return tm_constraint_holds(&test->constraint, value);
}

size_t tm_few_match(const tm_few *few, const tm_attribute *attributes, uint32_t *interfaces, uint32_t *handles) {
    const tm_few_test *tests = few->tests;
    size_t count = 0;
    for (uint32_t i = 0; i < few->filter_count; i++) {
        const tm_few_filter *filter = &few->filters[i];
        uint32_t held = 0;
        while (held < filter->test_count && holds(&tests[held], attributes)) {
            held++;
        }
        interfaces[count] = filter->interface;
        handles[count] = filter->handle;
        count += held == filter->test_count;
        tests += filter->test_count;
    }
    return count;
}
