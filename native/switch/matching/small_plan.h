/* small_plan.h - few filters, compiled for the messages of one shape and tested one by one.
 *
 * Law: the answer is the table's. A plan belongs to one version of the shape and of the filters, and is made once
 * enough messages have come since both last changed to pay for making it. Above SMALL_PLAN_FILTERS_MAX filters there is
 * no plan, because the table's indexes are faster then. A plan bypasses the table, whose call would cost more than the
 * plan, and needs no tm_answer (table/answer.h): every matching row is returned, without candidates, groups or
 * deduplication.
 *
 *     filters   handle, interface, 2 tests | handle, interface, 1 test | ...
 *     tests     price < 7 | side = "buy"   | price >= 9                | ...      only of names the shape has
 */
#ifndef TM_SMALL_PLAN_H
#define TM_SMALL_PLAN_H

#include "model/shape.h"
#include "network/remote_filters.h"
#include "switch/matching/value_test.h"
#include "switch/subscribers/subscriptions.h"

#define SMALL_PLAN_FILTERS_MAX 32U
/* Bound of all handles, which may be sparse after filters were removed. */
#define SMALL_PLAN_HANDLES_MAX SUBSCRIPTIONS_PLANNED_MAX
#define SMALL_PLAN_TESTS_MAX 128U /* of all filters together; with more there is no plan */
#define SMALL_PLAN_OPERANDS_MAX 128U

typedef struct tm_small_plan_filter {
    uint32_t handle;
    uint32_t interface;
    uint32_t test_count;
} tm_small_plan_filter;

typedef struct tm_small_plan {
    uint64_t shape_version;
    uint64_t filters_version;
    uint32_t wait; /* messages until a plan is made; 0: it was tried */
    bool is_made;
    uint32_t filter_count;
    uint32_t test_count;
    uint32_t operand_count;
    tm_small_plan_filter filters[SMALL_PLAN_FILTERS_MAX];
    tm_value_test tests[SMALL_PLAN_TESTS_MAX];
    tm_value operands[SMALL_PLAN_OPERANDS_MAX]; /* of the tests, whose strings are borrowed from the filters */
} tm_small_plan;

/* Count a message whose shape or filters have changed since a plan was made or tried, and make a plan if it is due.
 * Returns whether there is one. */
bool tm_small_plan_prepare(tm_small_plan *plan, const tm_subscriptions *subscriptions, const tm_shape *shape);
bool tm_small_plan_prepare_for_network(tm_small_plan *plan, const tm_network *network, const tm_shape *shape);

static inline bool small_plan_is_settled(const tm_small_plan *plan, uint64_t version, const tm_shape *shape) {
    return plan->wait == 0 && plan->shape_version == shape->version && plan->filters_version == version;
}

/* true if there is a plan for a message of the shape; its rows are subscribers, or routers. Inline, because each
 * message calls both */
static inline bool tm_small_plan_is_ready(tm_small_plan *plan, const tm_subscriptions *subscriptions,
                                          const tm_shape *shape) {
    bool is_settled = small_plan_is_settled(plan, subscriptions->version, shape);
    return is_settled ? plan->is_made : tm_small_plan_prepare(plan, subscriptions, shape);
}

static inline bool tm_small_plan_is_ready_for_network(tm_small_plan *plan, const tm_network *network,
                                                      const tm_shape *shape) {
    bool is_settled = small_plan_is_settled(plan, network->version, shape);
    return is_settled ? plan->is_made : tm_small_plan_prepare_for_network(plan, network, shape);
}

/* Write the rows (interface, handle) of all matching filters, at most SMALL_PLAN_FILTERS_MAX; returns their number.
 * Sixteen bytes behind any string of the message must be readable. If the work budget is exceeded the rows are
 * incomplete. */
size_t tm_small_plan_match(const tm_small_plan *plan, const tm_attribute *attributes, uint32_t *interfaces,
                           uint32_t *handles, tm_work *work);

#endif
