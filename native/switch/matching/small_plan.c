/* small_plan.c - see small_plan.h. */
#include "switch/matching/small_plan.h"

#include <string.h>

_Static_assert(NETWORK_PACKED_MAX == SMALL_PLAN_FILTERS_MAX, "the limit of a plan");

#define WAIT_MIN 8U /* base number of messages before a plan is made; plus one for each filter */

/* ---- making a plan ---- */

static bool add_test(tm_small_plan *plan, const tm_constraint *constraint, uint32_t attribute) {
    if (plan->test_count == SMALL_PLAN_TESTS_MAX ||
        constraint->operand_count > SMALL_PLAN_OPERANDS_MAX - plan->operand_count) {
        return false;
    }
    tm_value *operands = plan->operands + plan->operand_count;
    memcpy(operands, constraint->operands, sizeof *operands * constraint->operand_count);
    plan->operand_count += constraint->operand_count;
    tm_constraint own = *constraint;
    own.operands = operands;
    plan->tests[plan->test_count] = tm_test_of(&own);
    plan->tests[plan->test_count++].attribute = (uint8_t)attribute;
    return true;
}

/* Add a filter, unless no message of the shape can satisfy it; false: no room for its tests. */
static bool add_filter(tm_small_plan *plan, const tm_filter *filter, const tm_shape *shape, tm_small_plan_filter row) {
    uint32_t first = plan->test_count;
    for (size_t i = 0; i < filter->count; i++) {
        const tm_constraint *constraint = &filter->constraints[i];
        uint32_t attribute = tm_shape_find(shape, constraint->name, constraint->name_length);
        if (attribute != SHAPE_NONE) {
            if (!add_test(plan, constraint, attribute)) {
                return false;
            }
        } else if (!constraint->negated) {
            plan->test_count = first;
            return true;
        }
    }
    row.test_count = plan->test_count - first;
    plan->filters[plan->filter_count++] = row;
    return true;
}

static bool add_packed(tm_small_plan *plan, const uint8_t *bytes, uint32_t size, const tm_shape *shape,
                       tm_filter *parsed, tm_small_plan_filter row) {
    return tm_filter_parse(bytes, size, parsed) == TM_OK && add_filter(plan, parsed, shape, row);
}

static bool add_subscriptions(tm_small_plan *plan, const void *owner, const tm_shape *shape, tm_filter *parsed) {
    const tm_subscriptions *subscriptions = owner;
    bool fits = true;
    for (uint32_t handle = 0; handle < subscriptions->stored_count && fits; handle++) {
        const tm_kept_filter *kept = &subscriptions->kept[handle];
        if (kept->subscription != SUBSCRIPTION_NONE) {
            tm_small_plan_filter row = {.handle = handle,
                                        .interface = subscriptions->rows[kept->subscription].subscriber};
            const uint8_t *bytes = tm_arena_at(&subscriptions->bytes, kept->block);
            fits = add_packed(plan, bytes, kept->size, shape, parsed, row);
        }
    }
    return fits;
}

static bool add_network(tm_small_plan *plan, const void *owner, const tm_shape *shape, tm_filter *parsed) {
    const tm_network *network = owner;
    bool fits = true;
    for (uint32_t at = 0; at < network->packed_count && fits; at++) {
        const tm_packed_filter *packed = &network->packed[at];
        tm_small_plan_filter row = {.handle = packed->handle, .interface = network->filters[packed->handle].router};
        fits = add_packed(plan, packed->bytes, packed->size, shape, parsed, row);
    }
    return fits;
}

/* true if a plan may fit; tested before anything is allocated */
static bool are_few(const tm_subscriptions *subscriptions) {
    return subscriptions->filters <= SMALL_PLAN_FILTERS_MAX && subscriptions->stored_count <= SMALL_PLAN_HANDLES_MAX;
}

static bool make(tm_small_plan *plan, tm_memory *memory,
                 bool (*add)(tm_small_plan *, const void *, const tm_shape *, tm_filter *), const void *owner,
                 const tm_shape *shape) {
    tm_filter *parsed = TM_NEW(memory, TM_COLD, tm_filter, 1);
    plan->filter_count = 0;
    plan->test_count = 0;
    plan->operand_count = 0;
    bool is_made = parsed != NULL && add(plan, owner, shape, parsed);
    TM_DELETE(memory, TM_COLD, parsed, tm_filter, 1);
    return is_made;
}

/* true if this message is the last that a plan had to wait for */
static inline bool is_due(tm_small_plan *plan, uint64_t version, uint32_t filters, const tm_shape *shape) {
    if (plan->shape_version != shape->version || plan->filters_version != version) {
        plan->shape_version = shape->version;
        plan->filters_version = version;
        plan->wait = WAIT_MIN + filters;
        plan->is_made = false;
    }
    return plan->wait > 0 && --plan->wait == 0;
}

bool tm_small_plan_prepare(tm_small_plan *plan, const tm_subscriptions *subscriptions, const tm_shape *shape) {
    if (is_due(plan, subscriptions->version, subscriptions->filters, shape)) {
        plan->is_made =
            are_few(subscriptions) && make(plan, subscriptions->memory, add_subscriptions, subscriptions, shape);
    }
    return plan->is_made;
}

bool tm_small_plan_prepare_for_network(tm_small_plan *plan, const tm_network *network, const tm_shape *shape) {
    if (is_due(plan, network->version, network->count, shape)) {
        plan->is_made = network->is_packed && make(plan, network->memory, add_network, network, shape);
    }
    return plan->is_made;
}

/* ---- matching ---- */

size_t tm_small_plan_match(const tm_small_plan *plan, const tm_attribute *attributes, uint32_t *interfaces,
                           uint32_t *handles, tm_work *work) {
    work->steps += plan->test_count;
    const tm_value_test *tests = plan->tests;
    size_t count = 0;
    for (uint32_t i = 0; i < plan->filter_count; i++) {
        const tm_small_plan_filter *filter = &plan->filters[i];
        uint32_t held = 0;
        while (held < filter->test_count && tm_test_holds(&tests[held], attributes, work)) {
            held++;
        }
        interfaces[count] = filter->interface;
        handles[count] = filter->handle;
        count += held == filter->test_count;
        tests += filter->test_count;
    }
    return count;
}
