/* engine_kdtree.c - the engine of paper 001 for numeric tables: filters as boxes in trees, all others counted.
 *
 * A filter is a box if it has only ranges and equalities of numbers, on at most eight names, with bounds that are
 * floats. Boxes over one set of names share a tree (engines/boxes/families.h). Filters with any other constraint
 * (strings, !=, in, exists, negations), or with none, are in a core of the engine `counting` inside this one.
 *
 * Law: as in engine.h. A filter is either in the core or a box, never both; one answer collects the results of both.
 * The core is matched first: it marks in the answer the interfaces that are not wanted, and from then on both use those
 * marks.
 */
#include <string.h>

#include "base/grow.h"
#include "engines/boxes/box.h"
#include "engines/boxes/families.h"
#include "engines/boxes/tree_match.h"
#include "engines/papers/counting.h"
#include "engines/papers/counting_match.h"
#include "engines/papers/counting_validate.h"
#include "engines/registry.h"

#define NAMES_MAX 8U /* of a filter that is a box */

struct tm_engine {
    tm_counting core;    /* first: a test reads it */
    tm_holders *holders; /* borrowed */
    tm_families families;
    tm_intern names;     /* of boxes; a box has one reference to each of its names */
    tm_box_node **leafs; /* owned; by handle: the leaf of its box, or NULL */
    uint32_t leaf_capacity;
    uint8_t *present; /* owned scratch, by name: number of the message's attribute, from 1; zero between matches */
    uint32_t present_capacity;
};

/* ---- creation and release ---- */

static void note_leaf(void *owner, uint32_t handle, tm_box_node *leaf) {
    tm_engine *engine = owner;
    engine->leafs[handle] = leaf;
}

static void destroy(tm_engine *engine) {
    tm_memory *memory = engine->core.memory;
    tm_counting_free(&engine->core);
    tm_families_clear(&engine->families);
    tm_intern_free(&engine->names);
    TM_DELETE(memory, TM_HOT, engine->leafs, tm_box_node *, engine->leaf_capacity);
    TM_DELETE(memory, TM_HOT, engine->present, uint8_t, engine->present_capacity);
    TM_DELETE(memory, TM_HOT, engine, tm_engine, 1);
}

static int create(tm_memory *memory, tm_holders *holders, const uint64_t *values, tm_engine **out) {
    (void)values;
    tm_engine *engine = TM_NEW(memory, TM_HOT, tm_engine, 1);
    if (engine == NULL) {
        return TM_NO_MEMORY;
    }
    engine->holders = holders;
    tm_families_init(&engine->families, memory, note_leaf, engine);
    tm_intern_init(&engine->names, memory, TM_HOT);
    tm_text_kind text = {.class = &tm_text_sets};
    tm_counting_ways ways = {TM_CIRCUIT_AT_FULL, TM_COUNTERS_FLAT};
    int result = tm_counting_init(&engine->core, holders, text, (tm_name_hooks){0}, ways);
    if (result != TM_OK) {
        destroy(engine);
        return result;
    }
    *out = engine;
    return TM_OK;
}

/* ---- filters as boxes ---- */

/* Return the floats around a number, which are equal if it is a float itself. */
static tm_box_value floats_around(const tm_value *value) {
    return tm_box_value_of(value->kind == TM_KIND_FLOAT, value->integer, value->real);
}

static bool is_float(const tm_value *value) {
    tm_box_value around = floats_around(value);
    return (value->kind == TM_KIND_INTEGER || value->kind == TM_KIND_FLOAT) && around.below == around.above;
}

static bool is_range(const tm_constraint *constraint) {
    bool plain = constraint->op == TM_OP_EQ || (constraint->op >= TM_OP_BETWEEN && constraint->op <= TM_OP_LE) ||
                 (constraint->op == TM_OP_IN && constraint->operand_count == 1);
    for (uint32_t i = 0; i < constraint->operand_count && plain; i++) {
        plain = is_float(&constraint->operands[i]);
    }
    return plain && !constraint->negated;
}

static void narrow_by(tm_box *box, uint32_t names, uint32_t name, const tm_constraint *constraint) {
    double first = floats_around(&constraint->operands[0]).below;
    double last = floats_around(&constraint->operands[constraint->operand_count - 1U]).below;
    bool is_lower = constraint->op == TM_OP_GT || constraint->op == TM_OP_GE;
    bool is_upper = constraint->op == TM_OP_LT || constraint->op == TM_OP_LE;
    if (!is_upper) {
        tm_box_narrow(box, names, name, true, constraint->op == TM_OP_GT, first);
    }
    if (!is_lower) {
        tm_box_narrow(box, names, name, false, constraint->op == TM_OP_LT, last);
    }
}

/* The names of a filter that becomes a box, sorted by their ids; each is referenced. */
typedef struct draft {
    uint32_t names[TM_BOX_NAMES_MAX];
    uint32_t count;
} draft;

static void release_names(tm_engine *engine, const uint32_t *names, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        tm_intern_release(&engine->names, names[i] >> 2);
    }
}

/* Add the name to the draft, with a reference, unless the draft has it. */
static int hold_name(tm_engine *engine, const tm_constraint *constraint, draft *out) {
    uint32_t id;
    int result = tm_intern_hold(&engine->names, constraint->name, constraint->name_length, &id);
    if (result != TM_OK) {
        return result;
    }
    uint32_t at = 0;
    while (at < out->count && out->names[at] < id << 2) {
        at++;
    }
    if (at < out->count && out->names[at] == id << 2) {
        tm_intern_release(&engine->names, id);
        return TM_OK;
    }
    for (uint32_t i = out->count++; i > at; i--) {
        out->names[i] = out->names[i - 1];
    }
    out->names[at] = id << 2;
    return TM_OK;
}

static bool same_name(const tm_constraint *a, const tm_constraint *b) {
    return a->name_length == b->name_length && memcmp(a->name, b->name, a->name_length) == 0;
}

/* true if the filter is a box. */
static bool is_box(const tm_filter *filter) {
    uint32_t names = 0;
    for (size_t i = 0; i < filter->count; i++) {
        const tm_constraint *constraint = &filter->constraints[i];
        bool is_new = true;
        for (size_t j = 0; j < i && is_new; j++) {
            is_new = !same_name(constraint, &filter->constraints[j]);
        }
        names += is_new;
        if (names > NAMES_MAX || !is_range(constraint)) {
            return false;
        }
    }
    return names > 0;
}

static int draft_names(tm_engine *engine, const tm_filter *filter, draft *out) {
    int result = TM_OK;
    out->count = 0;
    for (size_t i = 0; i < filter->count && result == TM_OK; i++) {
        result = hold_name(engine, &filter->constraints[i], out);
    }
    if (result == TM_OK && !tm_grow(engine->core.memory, TM_HOT, &engine->present, sizeof *engine->present,
                                    &engine->present_capacity, (out->names[out->count - 1] >> 2) + 1)) {
        result = TM_NO_MEMORY;
    }
    if (result != TM_OK) {
        release_names(engine, out->names, out->count);
    }
    return result;
}

static void draft_box(const tm_engine *engine, const tm_filter *filter, const draft *names, tm_box *box) {
    tm_box_open(box, names->count);
    for (size_t i = 0; i < filter->count; i++) {
        const tm_constraint *constraint = &filter->constraints[i];
        uint32_t id = tm_intern_find(&engine->names, constraint->name, constraint->name_length);
        uint32_t at = 0;
        while (names->names[at] != id << 2) {
            at++;
        }
        narrow_by(box, names->count, at, constraint);
    }
}

static int add_box(tm_engine *engine, const tm_filter *filter, uint32_t interface, uint32_t handle) {
    draft names;
    if (!tm_grow(engine->core.memory, TM_HOT, &engine->leafs, sizeof *engine->leafs, &engine->leaf_capacity,
                 handle + 1) ||
        draft_names(engine, filter, &names) != TM_OK) {
        return TM_NO_MEMORY;
    }
    uint16_t track = interface < TM_BOX_TRACKED ? (uint16_t)interface : TM_BOX_UNTRACKED;
    tm_box box = {.id = handle, .payload = interface, .track = track};
    draft_box(engine, filter, &names, &box);
    if (!tm_families_insert(&engine->families, names.names, names.count, TM_FAMILY_UNGUARDED, &box)) {
        release_names(engine, names.names, names.count);
        return TM_NO_MEMORY;
    }
    return TM_OK;
}

static int add(tm_engine *engine, const tm_filter *filter, uint32_t interface, uint32_t handle) {
    return is_box(filter) ? add_box(engine, filter, interface, handle)
                          : tm_counting_add(&engine->core, filter, interface, handle);
}

static bool is_in_box(const tm_engine *engine, uint32_t handle) {
    return handle < engine->leaf_capacity && engine->leafs[handle] != NULL;
}

static void forget_boxes(tm_engine *engine) {
    tm_memory *memory = engine->core.memory;
    TM_DELETE(memory, TM_HOT, engine->leafs, tm_box_node *, engine->leaf_capacity);
    TM_DELETE(memory, TM_HOT, engine->present, uint8_t, engine->present_capacity);
    engine->leafs = NULL;
    engine->leaf_capacity = 0;
    engine->present = NULL;
    engine->present_capacity = 0;
}

static void remove_box(tm_engine *engine, uint32_t handle) {
    const tm_family *family = tm_family_of(engine->leafs[handle]);
    draft names = {.count = family->tree.names};
    memcpy(names.names, family->names, sizeof *names.names * names.count);
    tm_families_remove(&engine->families, engine->leafs[handle], handle);
    engine->leafs[handle] = NULL;
    release_names(engine, names.names, names.count);
    if (engine->families.boxes == 0) {
        forget_boxes(engine);
    }
}

static void remove_(tm_engine *engine, uint32_t handle) {
    if (is_in_box(engine, handle)) {
        remove_box(engine, handle);
    } else {
        tm_counting_remove(&engine->core, handle);
    }
    tm_holders_release(engine->holders, handle);
}

/* ---- match ---- */

/* With more interfaces than these it does not pay to mark all that are not wanted, unless the core does. */
#define MARKED_MAX 1024U

/* Copy the marks of the answer, the interfaces that can add nothing to it, to the query. */
static void note_settled(const tm_answer *answer, tm_box_query *query) {
    uint32_t words = answer->marked ? tm_bit_words(answer->holders->interface_count) : 0;
    for (uint32_t word = 0; word < TM_BOX_WORDS && answer->grouping == NULL; word++) {
        query->settled[word] = word < words ? answer->marks[word] : 0;
    }
}

static bool emit_rows(tm_box_query *query, const uint32_t *handles, const uint32_t *interfaces, uint32_t rows,
                      uint32_t count) {
    (void)count;
    tm_answer *answer = query->owner;
    bool grouped = answer->grouping != NULL;
    for (; rows != 0; rows &= rows - 1) {
        uint32_t row = (uint32_t)__builtin_ctz(rows);
        if (!answer->marked && tm_answer_open(answer, interfaces[row])) {
            tm_answer_emit(answer, interfaces[row], handles[row]);
        } else if (answer->marked && tm_answer_open_marked(answer, interfaces[row], grouped)) {
            tm_answer_emit_marked(answer, interfaces[row], handles[row], grouped);
        }
    }
    note_settled(answer, query);
    return !tm_answer_is_full(answer);
}

/* Set the point of the message in the space of a family; false if a name is missing. */
static bool find_point(const tm_engine *engine, const tm_attribute *attributes, const tm_family *family,
                       tm_box_query *query) {
    for (uint32_t i = 0; i < family->tree.names; i++) {
        uint32_t present = engine->present[family->names[i] >> 2];
        if (present == 0) {
            return false;
        }
        const tm_attribute *value = &attributes[present - 1];
        query->values[i] = tm_box_value_of(value->kind == TM_KIND_FLOAT, value->integer, value->real);
    }
    return true;
}

static void match_families(const tm_engine *engine, uint32_t name, const tm_attribute *attributes,
                           tm_box_query *query) {
    const tm_answer *answer = query->owner;
    for (const tm_family *family = tm_families_at(&engine->families, name);
         family != NULL && !tm_answer_is_full(answer) && tm_work_spend(&query->work, 1); family = family->next) {
        if (find_point(engine, attributes, family, query)) {
            tm_boxes_match(&family->tree, query);
        }
    }
}

static void match_boxes(const tm_engine *engine, const tm_attribute *attributes, size_t count, tm_answer *answer) {
    uint32_t names[TM_ATTRIBUTES_MAX];
    uint32_t found = 0;
    tm_box_query query = {.work = answer->work, .found = emit_rows, .owner = answer};
    note_settled(answer, &query);
    for (size_t i = 0; i < count; i++) {
        bool is_number = attributes[i].kind == TM_KIND_INTEGER || attributes[i].kind == TM_KIND_FLOAT;
        uint32_t name = is_number ? tm_intern_find(&engine->names, attributes[i].name, attributes[i].name_length) : 0;
        if (name != 0) {
            engine->present[name] = (uint8_t)(i + 1);
            names[found++] = name;
        }
    }
    for (uint32_t i = 0; i < found; i++) {
        match_families(engine, names[i], attributes, &query);
    }
    for (uint32_t i = 0; i < found; i++) {
        engine->present[names[i]] = 0;
    }
    answer->work = query.work;
}

static void match_core(tm_engine *engine, const tm_attribute *attributes, size_t count, tm_answer *answer) {
    uint32_t names[TM_ATTRIBUTES_MAX];
    for (size_t i = 0; i < count; i++) {
        names[i] = tm_intern_find(&engine->core.constraints.names, attributes[i].name, attributes[i].name_length);
    }
    tm_named_message message = {attributes, names, count};
    tm_counting_match(&engine->core, &message, (tm_excluded){0}, answer);
}

static void match(tm_engine *engine, const tm_attribute *attributes, size_t count, tm_answer *answer) {
    if (engine->core.live > 0) {
        match_core(engine, attributes, count, answer);
    } else if (engine->families.boxes > 0 && engine->holders->interface_count <= MARKED_MAX) {
        tm_answer_mark_others(answer, NULL, 0);
    }
    if (engine->families.boxes > 0 && !tm_answer_is_full(answer) && !tm_work_is_over(&answer->work)) {
        match_boxes(engine, attributes, count, answer);
    }
}

/* ---- statistics ---- */

static void stats(const tm_engine *engine, tm_stats *stats) {
    tm_counting_stats(&engine->core, stats);
    const tm_intern *names = &engine->names;
    for (uint32_t id = 1; id < names->count; id++) { /* names that only boxes have */
        const tm_interned *name = &names->entries[id];
        stats->names +=
            name->bytes != NULL && tm_intern_find(&engine->core.constraints.names, name->bytes, name->length) == 0;
    }
}

#define BOX_BYTES 24U  /* of a filter that is a box, besides its part of the tree */
#define NAME_BYTES 96U /* of a name that boxes have */

static uint64_t used(const tm_engine *engine) {
    return tm_counting_used(&engine->core, 0) + engine->families.bytes + (uint64_t)engine->families.boxes * BOX_BYTES +
           (uint64_t)engine->families.count * sizeof(tm_family) + engine->names.ids.count * NAME_BYTES +
           engine->names.text_bytes;
}

static void probes(const tm_engine *engine, tm_probes *probes) {
    tm_constraints_probes(&engine->core.constraints, probes);
    tm_intern_probes(&engine->names, probes);
    tm_families_probes(&engine->families, probes);
}

static bool is_at(const void *owner, uint32_t handle, const tm_box_node *leaf) {
    const tm_engine *engine = owner;
    return tm_holders_is_live(engine->holders, handle) && handle < engine->leaf_capacity &&
           engine->leafs[handle] == leaf;
}

static int validate_handles(const tm_engine *engine, const char **reason) {
    uint32_t boxes = 0;
    for (uint32_t handle = 0; handle < engine->leaf_capacity; handle++) {
        boxes += engine->leafs[handle] != NULL;
    }
    if (boxes != engine->families.boxes || boxes + engine->core.live != engine->holders->live) {
        *reason = "a filter is neither a box nor counted, or both";
        return TM_MISUSED;
    }
    for (uint32_t name = 0; name < engine->present_capacity; name++) {
        if (engine->present[name] != 0) {
            *reason = "a match left a name behind";
            return TM_MISUSED;
        }
    }
    return TM_OK;
}

static int validate(const tm_engine *engine, const char **reason) {
    int result = tm_counting_validate(&engine->core, reason);
    result = result != TM_OK ? result : tm_families_validate(&engine->families, is_at, reason);
    return result != TM_OK ? result : validate_handles(engine, reason);
}

const tm_engine_class tm_engine_kdtree = {
    .name = "kdtree",
    .about = "Paper 001: ranges of numbers as boxes in a spatial tree, all other filters counted.",
    .limits = true,
    .create = create,
    .destroy = destroy,
    .add = add,
    .remove = remove_,
    .match = match,
    .stats = stats,
    .used = used,
    .probes = probes,
    .validate = validate,
};
