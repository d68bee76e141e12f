/* match.c - a message against the structure of its type and the one of all other filters.
 *
 * Law: axes are read in the order of the structure, and the first one that leaves no filter ends the match. A step is
 * an axis read, a place of a list that is read (survivors.h), or a filter that remains at the end; a long text costs
 * more, as it is compared with several. A match changes only scratch, cached trees, and the counts of recent messages
 * in axes.
 */
#include <string.h>

#include "engines/interval/match.h"
#include "engines/interval/tree_growing.h"
#include "engines/papers/counting_match.h"

#define MARKED_MAX 1024U   /* with more interfaces it does not pay to mark those that are not wanted */
#define LOOKS_MAX 65536U   /* messages counted by an axis before its counts are halved */
#define CUT_TEXT_BYTES 16U /* bytes of a text in the cut itself */

typedef struct matching {
    tm_engine *engine;
    tm_answer *answer;
    tm_cut cuts[TM_ATTRIBUTES_MAX]; /* just after the value of each attribute whose name is an axis */
} matching;

/* ---- results ---- */

static bool emit(const matching *run, const tm_structure *structure, uint32_t seat) {
    tm_answer *answer = run->answer;
    const tm_holders *holders = answer->holders;
    uint32_t handle = structure->seats[seat].handle;
    if (!tm_holders_is_live(holders, handle)) {
        return true;
    }
    uint32_t interface = tm_holders_interface(holders, handle);
    bool grouped = answer->grouping != NULL;
    if (!answer->marked && tm_answer_open(answer, interface)) {
        tm_answer_emit(answer, interface, handle);
    } else if (answer->marked && tm_answer_open_marked(answer, interface, grouped)) {
        tm_answer_emit_marked(answer, interface, handle, grouped);
    }
    return !tm_answer_is_full(answer);
}

static void emit_all(const matching *run, const tm_structure *structure, const tm_survivors *survivors) {
    if (!tm_work_spend(&run->answer->work, survivors->count)) {
        return;
    }
    const uint32_t *ids = survivors->items;
    for (uint32_t i = 0; i < survivors->count && !survivors->is_bits; i++) {
        if (!emit(run, structure, ids[i])) {
            return;
        }
    }
    const uint64_t *words = survivors->items;
    for (uint32_t index = 0; index < survivors->words && survivors->is_bits; index++) {
        for (uint64_t word = words[index]; word != 0; word &= word - 1) {
            if (!emit(run, structure, index * 64 + (uint32_t)__builtin_ctzll(word))) {
                return;
            }
        }
    }
}

/* ---- axes ---- */

static uint32_t bits_of(uint32_t number) {
    return 32 - (uint32_t)__builtin_clz(number | 1);
}

/* Return the edge of the message's value; the count of edges if it has none. Adds the cost to `*places`. */
static uint32_t find_edge(const matching *run, const tm_axis *axis, uint64_t *places) {
    uint32_t present = run->engine->present[axis->name];
    *places += 1;
    if (present == 0) {
        return axis->count;
    }
    const tm_cut *cut = &run->cuts[present - 1];
    if (cut->length > CUT_TEXT_BYTES) {
        uint64_t compared = cut->length < TM_OPERAND_BYTES_MAX ? cut->length : TM_OPERAND_BYTES_MAX;
        *places += bits_of(axis->count) * (compared / WORK_BYTES);
    }
    return tm_axis_find(axis, cut);
}

static void note_look(const matching *run, const tm_structure *structure, tm_axis *axis, uint32_t members) {
    if (run->engine->ways.order != TM_ORDER_MESSAGES) {
        return;
    }
    axis->left += members + (uint64_t)(structure->filters - axis->care_count);
    if (++axis->looks == LOOKS_MAX) {
        axis->looks /= 2;
        axis->left /= 2;
    }
}

static void match_lists(const matching *run, tm_structure *structure) {
    tm_engine *engine = run->engine;
    tm_survivors left = tm_survivors_all(structure);
    for (uint32_t i = 0; i < structure->axis_count && left.count > 0; i++) {
        tm_axis *axis = structure->axes[i];
        uint64_t places = 0;
        uint32_t edge = find_edge(run, axis, &places);
        const tm_interval_set *set = edge < axis->count ? &axis->edges[edge]->set : NULL;
        note_look(run, structure, axis, set != NULL ? set->count : 0);
        left = tm_survivors_meet(left, structure, axis, set, engine->ways.dense_from, &engine->room, &places);
        if (!tm_work_spend(&run->answer->work, places)) {
            return;
        }
    }
    emit_all(run, structure, &left);
}

static tm_growth growth_of(tm_engine *engine, const tm_structure *structure) {
    return (tm_growth){engine->core.memory, structure, &engine->room, engine->ways.tree_bytes_max,
                       engine->ways.dense_from};
}

/* Match by the tree, one node an axis; false if there is no room for new nodes. */
static bool match_tree(const matching *run, tm_structure *structure) {
    tm_growth growth = growth_of(run->engine, structure);
    tm_interval_tree *tree = &structure->tree;
    if (!tm_tree_begin(tree, &growth)) {
        return false;
    }
    uint32_t node = TM_NODE_ROOT;
    for (uint32_t i = 0; i < structure->axis_count && tree->nodes[node].count > 0; i++) {
        uint64_t places = 0;
        uint32_t edge = find_edge(run, structure->axes[i], &places);
        note_look(run, structure, structure->axes[i],
                  edge < structure->axes[i]->count ? structure->axes[i]->edges[edge]->set.count : 0);
        node = tm_tree_take(tree, &growth, node, edge, &places);
        if (!tm_work_spend(&run->answer->work, places)) {
            return true;
        }
        if (node == TM_NODE_NONE) {
            return false;
        }
    }
    tm_survivors left = tm_tree_survivors(tree, node);
    emit_all(run, structure, &left);
    return true;
}

static void match_structure(const matching *run, tm_structure *structure) {
    if (structure == NULL || tm_answer_is_full(run->answer) || tm_work_is_over(&run->answer->work)) {
        return;
    }
    if (run->engine->ways.form == TM_FORM_LISTS) {
        match_lists(run, structure);
    } else if (!match_tree(run, structure)) {
        tm_tree_clear(&structure->tree, &run->engine->store);
        match_lists(run, structure);
    }
}

/* ---- the message ---- */

static bool is_type(const tm_attribute *attribute) {
    return attribute->kind == TM_KIND_STRING && attribute->name_length == TM_TYPE_NAME_LENGTH &&
           memcmp(attribute->name, TM_TYPE_NAME, TM_TYPE_NAME_LENGTH) == 0;
}

static void match_structures(matching *run, const tm_attribute *attributes, size_t count) {
    tm_engine *engine = run->engine;
    uint32_t names[TM_ATTRIBUTES_MAX];
    uint32_t found = 0;
    uint32_t type = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t name = tm_intern_find(&engine->names, attributes[i].name, attributes[i].name_length);
        if (name != 0) {
            engine->present[name] = (uint8_t)(i + 1);
            names[found++] = name;
            run->cuts[i] = tm_cut_of_attribute(&attributes[i]);
        }
        if (engine->ways.by_type && is_type(&attributes[i])) {
            type = tm_intern_find(&engine->types, attributes[i].string, attributes[i].length);
        }
    }
    if (type != 0) {
        match_structure(run, engine->structures[type]);
    }
    match_structure(run, engine->structures[0]);
    for (uint32_t i = 0; i < found; i++) {
        engine->present[names[i]] = 0;
    }
}

static void match_core(tm_engine *engine, const tm_attribute *attributes, size_t count, tm_answer *answer) {
    uint32_t names[TM_ATTRIBUTES_MAX];
    for (size_t i = 0; i < count; i++) {
        names[i] = tm_intern_find(&engine->core.constraints.names, attributes[i].name, attributes[i].name_length);
    }
    tm_named_message message = {attributes, names, count};
    tm_counting_match(&engine->core, &message, (tm_excluded){0}, answer);
}

void tm_interval_match(tm_engine *engine, const tm_attribute *attributes, size_t count, tm_answer *answer) {
    if (engine->core.live > 0) {
        match_core(engine, attributes, count, answer);
    } else if (engine->seated > 0 && engine->holders->interface_count <= MARKED_MAX) {
        tm_answer_mark_others(answer, NULL, 0);
    }
    if (engine->seated > 0) {
        matching run; /* not cleared: cuts are written before they are read */
        run.engine = engine;
        run.answer = answer;
        match_structures(&run, attributes, count);
    }
}

/* ---- settling ---- */

void tm_interval_settle(tm_engine *engine, tm_structure *structure, uint64_t *steps) {
    if (*steps == 0) {
        return;
    }
    if (tm_structure_order(structure, &engine->ways)) {
        tm_tree_clear(&structure->tree, &engine->store);
    }
    if (engine->ways.form == TM_FORM_WHOLE) {
        tm_growth growth = growth_of(engine, structure);
        tm_tree_grow(&structure->tree, &growth, steps);
    }
}
