/* engine_pst.c - the engine of paper 002: a parallel search tree, with trits.
 *
 * Law: as in engine.h. Filters with equal constraints on the first names share the tests of them; a match follows every
 * branch that the message satisfies. tree_match.c describes the mask of undecided interfaces.
 */
#include "base/grow.h"
#include "engines/pst/order.h"
#include "engines/pst/tree_match.h"
#include "engines/registry.h"

/* In the order of `values` in `create`. */
static const tm_option_kind options[] = {
    {.name = "order",
     .about = "Which names are tested first: those that most filters use, or those first in the alphabet.",
     .values = "auto names",
     .most = PST_ORDER_NAMES,
     .standard = PST_ORDER_AUTO},
    {.name = "annotate",
     .about =
         "Whether each node knows the interfaces below it, so that a match skips nodes without a wanted interface.",
     .values = "off on",
     .most = 1,
     .standard = 1},
    {.name = "delay",
     .about = "Hubs that are followed together, so that a name is tested once for all of them; 0: one at a time.",
     .most = PST_WIDTH_MAX,
     .standard = 0},
    {.name = "factor",
     .about = "Names of few values of each space whose values are an index of subtrees, in place of tests.",
     .most = PST_FACTORED_MAX,
     .standard = 0},
    {0},
};

struct tm_engine {
    tm_memory *memory;   /* borrowed */
    tm_holders *holders; /* borrowed */
    pst_tree tree;
    pst_order order;
    pst_joint joint;
    pst_parts parts;  /* of the filter that is being added */
    pst_rings *rings; /* owned; by view, from view 1 */
    uint32_t ring_capacity;
    uint32_t message; /* number of the last match */
};

static void destroy(tm_engine *engine) {
    tm_memory *memory = engine->memory;
    pst_tree_free(&engine->tree);
    pst_joint_free(&engine->joint);
    for (uint32_t i = 0; i < engine->ring_capacity; i++) {
        TM_DELETE(memory, TM_HOT, engine->rings[i].next, uint16_t, engine->rings[i].count);
    }
    TM_DELETE(memory, TM_HOT, engine->rings, pst_rings, engine->ring_capacity);
    TM_DELETE(memory, TM_HOT, engine, tm_engine, 1);
}

static int create(tm_memory *memory, tm_holders *holders, const uint64_t *values, tm_engine **out) {
    tm_engine *engine = TM_NEW(memory, TM_HOT, tm_engine, 1);
    if (engine == NULL) {
        return TM_NO_MEMORY;
    }
    engine->memory = memory;
    engine->holders = holders;
    engine->order.kind = (pst_order_kind)values[0];
    int result = pst_joint_init(&engine->joint, memory, (uint32_t)values[2]);
    int planted = pst_tree_init(&engine->tree, memory, holders, values[1] != 0, (uint32_t)values[3]);
    result = result == TM_OK ? planted : result;
    if (result != TM_OK) {
        destroy(engine);
        return result;
    }
    *out = engine;
    return TM_OK;
}

/* ---- spaces ---- */

static int space(tm_engine *engine, const tm_filter *filter) {
    pst_joint_forget(&engine->joint);
    return pst_tree_add_space(&engine->tree, filter);
}

/* ---- filters ---- */

static int add(tm_engine *engine, const tm_filter *filter, uint32_t interface, uint32_t handle) {
    (void)interface; /* read from the table */
    pst_labels *labels = &engine->tree.labels;
    uint32_t ids[TM_CONSTRAINTS_MAX];
    pst_joint_forget(&engine->joint);
    pst_parts_of(filter, &engine->parts);
    uint32_t count = engine->parts.count;
    int result = pst_labels_hold_all(labels, &engine->parts, ids);
    if (result != TM_OK) {
        return result;
    }
    pst_order_sort(labels, ids, count);
    result = pst_seats_add(&engine->tree, ids, count, handle);
    for (uint32_t i = 0; i < count; i++) {
        pst_labels_release(labels, ids[i]); /* the hubs have references */
    }
    if (result == TM_OK) {
        pst_order_added(&engine->order, &engine->tree, ids, count);
    }
    return result;
}

static void remove_(tm_engine *engine, uint32_t handle) {
    pst_joint_forget(&engine->joint);
    pst_order_removed(&engine->tree, handle);
    pst_seats_remove(&engine->tree, handle);
    tm_holders_release(engine->holders, handle);
    if (engine->tree.filters == 0) {
        pst_tree_forget(&engine->tree);
        engine->order = (pst_order){.kind = engine->order.kind};
    }
}

static void settle(tm_engine *engine, uint64_t steps) {
    pst_joint_forget(&engine->joint);
    pst_order_settle(&engine->order, &engine->tree, steps);
}

/* ---- views ---- */

#define GROUP_SLOTS (PST_POSITIONS * 2)

/* By group, the last interface found in it, plus one; 0: none. */
typedef struct last_seen {
    uint16_t slots[GROUP_SLOTS];
} last_seen;

static uint16_t *slot_of(last_seen *seen, const uint32_t *groups, uint32_t group, const tm_hash_key *key) {
    uint32_t at = (uint32_t)tm_hash_u64(group, key) % GROUP_SLOTS;
    while (seen->slots[at] != 0 && groups[seen->slots[at] - 1] != group) {
        at = (at + 1) % GROUP_SLOTS;
    }
    return &seen->slots[at];
}

static void join_rings(uint16_t *next, const tm_view *view, uint32_t count, const tm_hash_key *key) {
    last_seen seen = {0};
    for (uint32_t i = 0; i < count; i++) {
        uint16_t *last = slot_of(&seen, view->groups, view->groups[i], key);
        next[i] = *last != 0 ? next[*last - 1] : (uint16_t)i;
        if (*last != 0) {
            next[*last - 1] = (uint16_t)i;
        }
        *last = (uint16_t)(i + 1);
    }
}

static int view(tm_engine *engine, uint32_t id, const tm_view *view) {
    uint32_t count = view->count < PST_POSITIONS - 1 ? view->count : PST_POSITIONS - 1;
    if (!engine->tree.annotated || count == 0) {
        return TM_OK;
    }
    if (!tm_grow(engine->memory, TM_HOT, &engine->rings, sizeof *engine->rings, &engine->ring_capacity, id)) {
        return TM_NO_MEMORY;
    }
    uint16_t *next = TM_NEW(engine->memory, TM_HOT, uint16_t, count);
    if (next == NULL) {
        return TM_NO_MEMORY;
    }
    join_rings(next, view, count, &engine->memory->key);
    engine->rings[id - 1] = (pst_rings){next, count};
    return TM_OK;
}

static void drop_view(tm_engine *engine, uint32_t id) {
    if (id <= engine->ring_capacity) {
        pst_rings *rings = &engine->rings[id - 1];
        TM_DELETE(engine->memory, TM_HOT, rings->next, uint16_t, rings->count);
        *rings = (pst_rings){0};
    }
}

/* ---- match ---- */

/* Return the number of a new match. Labels and names store numbers, which are cleared when numbers run out. */
static uint32_t next_message(tm_engine *engine) {
    pst_labels *labels = &engine->tree.labels;
    if (++engine->message == 0) {
        for (uint32_t id = 1; id < labels->count; id++) {
            labels->rows[id].message = 0;
        }
        for (uint32_t name = 1; name < pst_labels_names(labels); name++) {
            labels->of_names[name].message = 0;
        }
        engine->message = 1;
    }
    return engine->message;
}

static void match(tm_engine *engine, const tm_attribute *attributes, size_t count, tm_answer *answer) {
    bool is_noted = answer->view != 0 && answer->view <= engine->ring_capacity;
    const pst_rings *rings = is_noted ? &engine->rings[answer->view - 1] : NULL;
    if (engine->tree.filters > 0) {
        pst_tree_match(&engine->tree, &engine->joint, next_message(engine), rings, attributes, count, answer);
    }
}

/* ---- statistics ---- */

static void stats(const tm_engine *engine, tm_stats *stats) {
    stats->active = engine->holders->live;
    stats->names = engine->tree.labels.names.ids.count;
}

static uint64_t used(const tm_engine *engine) {
    return pst_tree_used(&engine->tree);
}

static void probes(const tm_engine *engine, tm_probes *probes) {
    pst_tree_probes(&engine->tree, probes);
}

static int validate(const tm_engine *engine, const char **reason) {
    if (engine->tree.filters != engine->holders->live) {
        *reason = "the tree and the table count different filters";
        return TM_MISUSED;
    }
    return pst_tree_validate(&engine->tree, reason);
}

const tm_engine_class tm_engine_pst = {
    .name = "pst",
    .about = "Paper 002: a parallel search tree of tests that filters share, annotated with the interfaces below.",
    .limits = true,
    .options = options,
    .create = create,
    .destroy = destroy,
    .space = space,
    .add = add,
    .remove = remove_,
    .match = match,
    .validate = validate,
    .view = view,
    .drop_view = drop_view,
    .settle = settle,
    .stats = stats,
    .used = used,
    .probes = probes,
};
