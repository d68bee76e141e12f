/* small_plan.h - few filters, as the messages of one shape see them: each is asked, one after the other.
 *
 * Law: the answer is the table's. A plan is for one version of the shape and of the filters, and is made once so
 * many messages have come since both last changed that making it is paid for. Past SMALL_PLAN_FILTERS_MAX filters there
 * is none: the table's indexes are faster by then. It is asked past the table, as the call would cost more than the
 * plan, and needs no answer (table/answer.h): every row is wanted, so nothing is a candidate, grouped or told twice.
 *
 *     filters   handle, interface, 2 tests | handle, interface, 1 test | ...
 *     tests     price < 7 | side = "buy"   | price >= 9                | ...      only of names the shape has
 */
#ifndef TM_SMALL_PLAN_H
#define TM_SMALL_PLAN_H

#include "base/work.h"
#include "model/filter.h"
#include "model/shape.h"
#include "network/remote_filters.h"
#include "switch/subscribers/subscriptions.h"

#define SMALL_PLAN_FILTERS_MAX 32U
#define SMALL_PLAN_HANDLES_MAX 256U /* all handles are below it: where many were once, they may lie far apart */
#define SMALL_PLAN_TESTS_MAX 128U   /* of all filters together; with more there is no plan */
#define SMALL_PLAN_OPERANDS_MAX 128U

/* An integer compared with an integer, a short string with a short one, and the rest. */
typedef enum { SMALL_PLAN_INTEGER, SMALL_PLAN_TEXT, SMALL_PLAN_ANY } tm_small_plan_form;

typedef struct tm_small_plan_test {
    uint8_t form;
    uint8_t attribute; /* among those the shape hands on */
    uint8_t holds;     /* SMALL_PLAN_INTEGER, SMALL_PLAN_TEXT: the orders that satisfy it (model/order.h) */
    uint32_t length;   /* SMALL_PLAN_TEXT */
    words text;        /* SMALL_PLAN_TEXT: at most sixteen bytes */
    int64_t integer;   /* SMALL_PLAN_INTEGER */
    tm_constraint
        constraint; /* for values of another form; operands are the plan's, their strings the subscriptions' */
} tm_small_plan_test;

typedef struct tm_small_plan_filter {
    uint32_t handle;
    uint32_t interface;
    uint32_t test_count;
} tm_small_plan_filter;

typedef struct tm_small_plan {
    uint64_t shape_version;
    uint64_t filters_version;
    uint32_t wait; /* messages to come before a plan is made; 0: that was tried */
    bool is_made;
    uint32_t filter_count;
    uint32_t test_count;
    uint32_t operand_count;
    tm_small_plan_filter filters[SMALL_PLAN_FILTERS_MAX];
    tm_small_plan_test tests[SMALL_PLAN_TESTS_MAX];
    tm_value operands[SMALL_PLAN_OPERANDS_MAX];
} tm_small_plan;

/* A message of the shape is here, and something has changed since a plan was made or tried: count the message, and make
 * a plan if it is time. Returns whether there is one. */
bool tm_small_plan_prepare(tm_small_plan *plan, const tm_subscriptions *subscriptions, const tm_shape *shape);
bool tm_small_plan_prepare_for_network(tm_small_plan *plan, const tm_network *network, const tm_shape *shape);

static inline bool small_plan_is_settled(const tm_small_plan *plan, uint64_t version, const tm_shape *shape) {
    return plan->wait == 0 && plan->shape_version == shape->version && plan->filters_version == version;
}

/* A message of the shape is here: is there a plan for it? Rows are of subscribers, or of routers. Here, as each message
 * asks both. */
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

/* The rows (interface, handle) of all filters that hold, at most SMALL_PLAN_FILTERS_MAX; returns how many. Sixteen
 * bytes behind any string of the message may be read. Where the work is over they are not all. */
size_t tm_small_plan_match(const tm_small_plan *plan, const tm_attribute *attributes, uint32_t *interfaces,
                           uint32_t *handles, tm_work *work);

#endif
