/* few.c - see few.h. */
#include "switch/few.h"

#include "model/order.h"

#include <string.h>

_Static_assert(NETWORK_PACKED_MAX == FEW_FILTERS_MAX, "as many are kept as a plan may have");

#define WAIT_MIN 8U /* messages; and one more for each filter */

/* ---- making a plan ---- */

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

static bool add_packed(tm_few *few, const uint8_t *bytes, uint32_t size, const tm_shape *shape, tm_filter *parsed,
                       tm_few_filter row) {
    return tm_filter_parse(bytes, size, parsed) == TM_OK && add_filter(few, parsed, shape, row);
}

static bool add_subscriptions(tm_few *few, const void *owner, const tm_shape *shape, tm_filter *parsed) {
    const tm_subscriptions *subscriptions = owner;
    bool fits = subscriptions->filters <= FEW_FILTERS_MAX && subscriptions->kept_count <= FEW_HANDLES_MAX;
    for (uint32_t handle = 0; handle < subscriptions->kept_count && fits; handle++) {
        const tm_kept_filter *kept = &subscriptions->kept[handle];
        if (kept->subscription != SUBSCRIPTION_NONE) {
            tm_few_filter row = {.handle = handle, .interface = subscriptions->rows[kept->subscription].subscriber};
            const uint8_t *bytes = tm_arena_at(&subscriptions->bytes, kept->block);
            fits = add_packed(few, bytes, kept->size, shape, parsed, row);
        }
    }
    return fits;
}

static bool add_network(tm_few *few, const void *owner, const tm_shape *shape, tm_filter *parsed) {
    const tm_network *network = owner;
    bool fits = network->is_packed;
    for (uint32_t at = 0; at < network->packed_count && fits; at++) {
        const tm_packed_filter *packed = &network->packed[at];
        tm_few_filter row = {.handle = packed->handle, .interface = network->filters[packed->handle].router};
        fits = add_packed(few, packed->bytes, packed->size, shape, parsed, row);
    }
    return fits;
}

static bool make(tm_few *few, tm_memory *memory, bool (*add)(tm_few *, const void *, const tm_shape *, tm_filter *),
                 const void *owner, const tm_shape *shape) {
    tm_filter *parsed = TM_NEW(memory, TM_COLD, tm_filter, 1);
    few->filter_count = 0;
    few->test_count = 0;
    few->operand_count = 0;
    bool is_made = parsed != NULL && add(few, owner, shape, parsed);
    TM_DELETE(memory, TM_COLD, parsed, tm_filter, 1);
    return is_made;
}

/* Have enough messages come since anything changed, just now? */
static inline bool is_due(tm_few *few, uint64_t version, uint32_t filters, const tm_shape *shape) {
    if (few->shape_version != shape->version || few->filters_version != version) {
        few->shape_version = shape->version;
        few->filters_version = version;
        few->wait = WAIT_MIN + filters;
        few->is_made = false;
    }
    return few->wait > 0 && --few->wait == 0;
}

bool tm_few_is_ready(tm_few *few, const tm_subscriptions *subscriptions, const tm_shape *shape) {
    if (is_due(few, subscriptions->version, subscriptions->filters, shape)) {
        few->is_made = make(few, subscriptions->memory, add_subscriptions, subscriptions, shape);
    }
    return few->is_made;
}

bool tm_few_is_ready_for_network(tm_few *few, const tm_network *network, const tm_shape *shape) {
    if (is_due(few, network->version, network->count, shape)) {
        few->is_made = make(few, network->memory, add_network, network, shape);
    }
    return few->is_made;
}

/* ---- asking ---- */

static bool any_holds(const tm_few_test *test, const tm_attribute *value, tm_work *work) {
    return tm_work_spend(work, tm_constraint_steps(&test->constraint, value)) &&
           tm_constraint_holds(&test->constraint, value);
}

static inline bool holds(const tm_few_test *test, const tm_attribute *attributes, tm_work *work) {
    const tm_attribute *value = &attributes[test->attribute];
    if (test->form == FEW_INTEGER && value->kind == TM_KIND_INTEGER) {
        return tm_order_holds(test->holds, value->integer, test->integer);
    }
    if (test->form == FEW_TEXT && value->kind == TM_KIND_STRING) {
        words text = words_at(value->string, test->length);
        bool is_equal = value->length == test->length && text.low == test->text.low && text.high == test->text.high;
        return test->holds >> is_equal & 1;
    }
    return any_holds(test, value, work);
}

size_t tm_few_match(const tm_few *few, const tm_attribute *attributes, uint32_t *interfaces, uint32_t *handles,
                    tm_work *work) {
    work->steps += few->test_count;
    const tm_few_test *tests = few->tests;
    size_t count = 0;
    for (uint32_t i = 0; i < few->filter_count; i++) {
        const tm_few_filter *filter = &few->filters[i];
        uint32_t held = 0;
        while (held < filter->test_count && holds(&tests[held], attributes, work)) {
            held++;
        }
        interfaces[count] = filter->interface;
        handles[count] = filter->handle;
        count += held == filter->test_count;
        tests += filter->test_count;
    }
    return count;
}
