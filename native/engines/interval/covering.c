/* covering.c - which filters cover a filter, and which it covers, from the sets and the cuts (paper 003, 4.1.4).
 *
 *     celsius  (.. 18]   (18 .. 21]   (21 ..]        x > 18 is filter 2, x > 21 is filter 3
 *                {}         {2}        {2 3}
 *
 *     what covers x > 25       has the first of its values on each axis: {2 3}; each of them is compared
 *     what x > 18 covers       begins at an edge inside of it: 2 and 3; each of them is compared
 *
 * Law: two filters are compared by their intervals on each axis: one covers the other if it has no axis that the other
 * lacks, and there all intervals of the other are inside its own. So an answer is right. It has all filters in
 * structures of which that is so, except beyond TM_COVERING_STEPS, and except that a filter of one type covers only
 * filters of its type. A step is an edge, or a place of a list or a word of bits that is read; a filter that is
 * compared takes COMPARED_STEPS.
 */
#include <string.h>

#include "engines/interval/covering.h"

#define COMPARED_STEPS 8U

/* A filter in question; everything is borrowed. Axis i of its draft is marked in `engine->present`, as i + 1. */
typedef struct question {
    tm_engine *engine;
    const tm_interval_draft *draft;
    tm_handles *found;
    uint64_t steps;                          /* left */
    const tm_axis *axes[TM_CONSTRAINTS_MAX]; /* of the structure that is read, by axis of the draft; NULL: any of its
                                                filters has the values there */
    const tm_axis *axis;                     /* whose sets are read, and the edge before the current one */
    const tm_edge *begin;
} question;

/* Spend steps; false if fewer are left, and then none are. */
static bool spend(question *asked, uint64_t steps) {
    bool is_left = steps <= asked->steps;
    asked->steps -= is_left ? steps : asked->steps;
    return is_left;
}

static bool is_over(const question *asked) {
    return asked->steps == 0 || asked->found->count == asked->found->capacity;
}

/* ---- axes ---- */

static void mark(const question *asked, bool is_marked) {
    for (uint32_t i = 0; i < asked->draft->axis_count; i++) {
        const tm_draft_axis *axis = &asked->draft->axes[i];
        uint32_t name = tm_intern_find(&asked->engine->names, axis->name, axis->name_length);
        if (name != 0) {
            asked->engine->present[name] = is_marked ? (uint8_t)(i + 1) : 0;
        }
    }
}

/* Return the draft's axis of this name; NULL: it has none. */
static const tm_draft_axis *drafted(const question *asked, const tm_axis *axis) {
    uint32_t present = asked->engine->present[axis->name];
    return present != 0 ? &asked->draft->axes[present - 1] : NULL;
}

static const tm_span *spans_of(const question *asked, const tm_draft_axis *axis) {
    return &asked->draft->spans[axis->first];
}

static bool never_matches(const tm_interval_draft *draft) {
    for (uint32_t i = 0; i < draft->axis_count; i++) {
        if (draft->axes[i].count == 0) {
            return true;
        }
    }
    return false;
}

/* ---- intervals ---- */

/* The intervals of a filter on one axis: rising parts, each with edges. */
typedef struct own {
    const tm_part *parts;
    uint32_t count;
} own;

/* Return the intervals that begin at part `at` of a filter, which has none of its own. */
static own own_at(const tm_interval_seat *row, uint32_t at) {
    uint32_t end = at + 1;
    while (end < row->part_count && row->parts[end].high != NULL) {
        end++;
    }
    return (own){&row->parts[at + 1], end - at - 1};
}

/* Find the intervals of a filter on an axis; false if it has no predicate there. */
static bool own_on(const tm_interval_seat *row, const tm_axis *axis, own *out) {
    for (uint32_t at = 0; at < row->part_count; at++) {
        if (row->parts[at].axis == axis) {
            *out = own_at(row, at);
            return true;
        }
    }
    return false;
}

static const tm_cut *low_of(const tm_part *part) {
    return part->low == NULL ? &tm_cut_first : &part->low->cut;
}

/* true if each of the spans is inside one of the parts. */
static bool have(own wide, const tm_span *spans, uint32_t count) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        while (at < wide.count && tm_cut_compare(&wide.parts[at].high->cut, &spans[i].high) < 0) {
            at++;
        }
        if (at == wide.count || tm_cut_compare(low_of(&wide.parts[at]), &spans[i].low) > 0) {
            return false;
        }
    }
    return true;
}

/* true if each of the parts is inside one of the spans. */
static bool are_inside(own narrow, const tm_span *spans, uint32_t count) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < narrow.count; i++) {
        while (at < count && tm_cut_compare(&spans[at].high, &narrow.parts[i].high->cut) < 0) {
            at++;
        }
        if (at == count || tm_cut_compare(&spans[at].low, low_of(&narrow.parts[i])) > 0) {
            return false;
        }
    }
    return true;
}

/* ---- the filters that are compared ---- */

typedef bool compare(const question *asked, const tm_interval_seat *row);

/* Compare the filter of a seat, and note its handle. */
static void consider(question *asked, const tm_structure *structure, uint32_t seat, compare *is_found) {
    const tm_interval_seat *row = &structure->seats[seat];
    if (spend(asked, COMPARED_STEPS) && is_found(asked, row) &&
        tm_holders_is_live(asked->engine->holders, row->handle)) {
        asked->found->handles[asked->found->count++] = row->handle;
    }
}

static void consider_word(question *asked, const tm_structure *structure, uint32_t index, uint64_t word,
                          compare *is_found) {
    for (; word != 0 && !is_over(asked); word &= word - 1) {
        consider(asked, structure, index * 64 + (uint32_t)__builtin_ctzll(word), is_found);
    }
}

/* ---- what covers a filter ---- */

/* true if the filter in question has each axis of this one, with no value that it lacks. */
static bool covers(const question *asked, const tm_interval_seat *row) {
    for (uint32_t at = 0; at < row->part_count;) {
        own wide = own_at(row, at);
        const tm_draft_axis *axis = drafted(asked, row->parts[at].axis);
        if (axis == NULL || !have(wide, spans_of(asked, axis), axis->count)) {
            return false;
        }
        at += 1 + wide.count;
    }
    return true;
}

/* Return the set at the first value of the filter on this axis; NULL: the filter lacks the axis. */
static const tm_interval_set *first_set(const question *asked, const tm_axis *axis) {
    const tm_draft_axis *own_axis = drafted(asked, axis);
    if (own_axis == NULL) {
        return NULL;
    }
    const tm_cut *low = &spans_of(asked, own_axis)->low;
    uint32_t place = tm_axis_find(axis, low);
    place += tm_cut_compare(&axis->edges[place]->cut, low) == 0;
    return &axis->edges[place]->set;
}

static void find_covering(question *asked, const tm_structure *structure) {
    tm_survivors left = tm_survivors_all(structure);
    for (uint32_t i = 0; i < structure->axis_count && left.count > 0; i++) {
        const tm_axis *axis = structure->axes[i];
        uint64_t places = 1;
        left = tm_survivors_meet(left, structure, axis, first_set(asked, axis), asked->engine->ways.dense_from,
                                 &asked->engine->room, &places);
        if (!spend(asked, places)) {
            return;
        }
    }
    const uint32_t *ids = left.items;
    const uint64_t *words = left.items;
    for (uint32_t i = 0; i < left.count && !left.is_bits && !is_over(asked); i++) {
        consider(asked, structure, ids[i], covers);
    }
    for (uint32_t index = 0; index < left.words && left.is_bits && !is_over(asked); index++) {
        consider_word(asked, structure, index, words[index], covers);
    }
}

/* ---- what a filter covers ---- */

/* true if the type that the filters of a structure require is inside a span. */
static bool type_is_inside(const question *asked, const tm_structure *structure, const tm_draft_axis *axis) {
    const tm_interned *type = &asked->engine->types.entries[structure->type];
    tm_cut low = tm_cut_of_text(type->bytes, type->length, false);
    tm_cut high = tm_cut_of_text(type->bytes, type->length, true);
    const tm_span *spans = spans_of(asked, axis);
    for (uint32_t i = 0; i < axis->count; i++) {
        if (tm_cut_compare(&spans[i].low, &low) <= 0 && tm_cut_compare(&high, &spans[i].high) <= 0) {
            return true;
        }
    }
    return false;
}

static bool is_type(const tm_draft_axis *axis) {
    return axis->name_length == TM_TYPE_NAME_LENGTH && memcmp(axis->name, TM_TYPE_NAME, TM_TYPE_NAME_LENGTH) == 0;
}

/* Find the axes of the structure; false if its filters cannot be covered, because they lack one. */
static bool find_axes(question *asked, const tm_structure *structure) {
    memset(asked->axes, 0, sizeof asked->axes);
    for (uint32_t i = 0; i < structure->axis_count; i++) {
        const tm_draft_axis *axis = drafted(asked, structure->axes[i]);
        if (axis != NULL) {
            asked->axes[axis - asked->draft->axes] = structure->axes[i];
        }
    }
    for (uint32_t i = 0; i < asked->draft->axis_count; i++) {
        const tm_draft_axis *axis = &asked->draft->axes[i];
        bool is_by_type = structure->type != 0 && is_type(axis) && type_is_inside(asked, structure, axis);
        if (asked->axes[i] == NULL && !is_by_type) {
            return false;
        }
        asked->axes[i] = is_by_type ? NULL : asked->axes[i];
    }
    return true;
}

/* true if this filter has each axis of the filter in question, with no value that that one lacks. */
static bool is_covered(const question *asked, const tm_interval_seat *row) {
    for (uint32_t i = 0; i < asked->draft->axis_count; i++) {
        const tm_draft_axis *axis = &asked->draft->axes[i];
        own narrow;
        if (asked->axes[i] != NULL &&
            !(own_on(row, asked->axes[i], &narrow) && are_inside(narrow, spans_of(asked, axis), axis->count))) {
            return false;
        }
    }
    return true;
}

/* true if, besides, its first interval on the axis begins at the current edge. */
static bool begins_and_is_covered(const question *asked, const tm_interval_seat *row) {
    own narrow;
    return own_on(row, asked->axis, &narrow) && narrow.count > 0 && narrow.parts->low == asked->begin &&
           is_covered(asked, row);
}

/* Return word `index` of the bits of all filters that have the axes. */
static uint64_t word_of_all(const question *asked, const tm_structure *structure, uint32_t index) {
    uint64_t word = structure->used[index];
    for (uint32_t i = 0; i < asked->draft->axis_count; i++) {
        word &= asked->axes[i] != NULL ? tm_axis_care_word(asked->axes[i], index) : UINT64_MAX;
    }
    return word;
}

/* Return the most steps of reading that word for all filters. */
static uint64_t cost_of_all(const question *asked, const tm_structure *structure) {
    uint32_t fewest = structure->filters;
    for (uint32_t i = 0; i < asked->draft->axis_count; i++) {
        const tm_axis *axis = asked->axes[i];
        fewest = axis != NULL && axis->care_count < fewest ? axis->care_count : fewest;
    }
    return (uint64_t)tm_structure_words(structure) + (uint64_t)fewest * COMPARED_STEPS;
}

/* Find the edges whose intervals are inside a span: from `*from` until before `*end`. */
static void edges_inside(const tm_axis *axis, const tm_span *span, uint32_t *from, uint32_t *end) {
    bool is_first = tm_cut_compare(&span->low, &tm_cut_first) == 0;
    *from = is_first ? 0 : tm_axis_find(axis, &span->low) + 1;
    *end = tm_axis_find(axis, &span->high);
    *end += tm_cut_compare(&axis->edges[*end]->cut, &span->high) == 0;
}

/* Return the steps of reading the sets inside the spans of axis `i`, or `most` if they are not fewer. */
static uint64_t cost_of_axis(const question *asked, uint32_t i, uint64_t most) {
    const tm_draft_axis *axis = &asked->draft->axes[i];
    uint64_t cost = 0;
    for (uint32_t k = 0; k < axis->count; k++) {
        uint32_t place;
        uint32_t end;
        edges_inside(asked->axes[i], &spans_of(asked, axis)[k], &place, &end);
        for (; place < end; place++) {
            const tm_interval_set *set = &asked->axes[i]->edges[place]->set;
            cost += 1 + (set->is_bits ? set->capacity : set->count);
            if (cost >= most) {
                return most;
            }
        }
    }
    return cost;
}

/* true if a set has the id; `*at` is where to search a list: ids rise from one call to the next. */
static bool has(const tm_interval_set *set, uint32_t id, uint32_t *at) {
    if (set->is_bits) {
        return tm_set_word(set, id / 64) >> (id % 64) & 1;
    }
    while (*at < set->count && tm_set_ids(set)[*at] < id) {
        ++*at;
    }
    return *at < set->count && tm_set_ids(set)[*at] == id;
}

/* Return word `index` of the bits of a set; `*at` is where to read a list: words rise from one call to the next. */
static uint64_t word_of(const tm_interval_set *set, uint32_t index, uint32_t *at) {
    uint64_t word = set->is_bits ? tm_set_word(set, index) : 0;
    for (; !set->is_bits && *at < set->count && tm_set_ids(set)[*at] / 64 <= index; ++*at) {
        word |= UINT64_C(1) << (tm_set_ids(set)[*at] % 64);
    }
    return word;
}

/* Consider the filters of a set that the set before it has not: those with an interval that begins between them. */
static void read_set(question *asked, const tm_structure *structure, const tm_interval_set *before,
                     const tm_interval_set *set) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < set->count && !set->is_bits && spend(asked, 1); i++) {
        uint32_t id = tm_set_ids(set)[i];
        if (!has(before, id, &at) && !is_over(asked)) {
            consider(asked, structure, id, begins_and_is_covered);
        }
    }
    for (uint32_t index = 0; set->is_bits && index < set->capacity && spend(asked, 1); index++) {
        uint64_t word = tm_set_word(set, index) & ~word_of(before, index, &at);
        consider_word(asked, structure, index, word, begins_and_is_covered);
    }
}

/* Consider the filters whose first interval on axis `i` begins inside the spans there. */
static void read_axis(question *asked, const tm_structure *structure, uint32_t i) {
    static const tm_interval_set nothing;
    const tm_draft_axis *axis = &asked->draft->axes[i];
    asked->axis = asked->axes[i];
    for (uint32_t k = 0; k < axis->count; k++) {
        uint32_t place;
        uint32_t end;
        edges_inside(asked->axis, &spans_of(asked, axis)[k], &place, &end);
        for (; place < end && spend(asked, 1) && !is_over(asked); place++) {
            asked->begin = place == 0 ? NULL : asked->axis->edges[place - 1];
            read_set(asked, structure, asked->begin == NULL ? &nothing : &asked->begin->set,
                     &asked->axis->edges[place]->set);
        }
    }
}

/* Consider all filters that have the axes. */
static void read_all(question *asked, const tm_structure *structure) {
    uint32_t words = tm_structure_words(structure);
    for (uint32_t index = 0; index < words && spend(asked, 1) && !is_over(asked); index++) {
        consider_word(asked, structure, index, word_of_all(asked, structure, index), is_covered);
    }
}

static void find_covered(question *asked, const tm_structure *structure) {
    uint32_t best = TM_CONSTRAINTS_MAX;
    uint64_t least = cost_of_all(asked, structure);
    for (uint32_t i = 0; i < asked->draft->axis_count; i++) {
        uint64_t cost = asked->axes[i] != NULL ? cost_of_axis(asked, i, least) : least;
        best = cost < least ? i : best;
        least = cost;
    }
    if (best == TM_CONSTRAINTS_MAX) {
        read_all(asked, structure);
    } else {
        read_axis(asked, structure, best);
    }
}

/* ---- questions ---- */

static tm_structure *structure_of(const tm_engine *engine, const tm_value *type) {
    uint32_t id = type == NULL ? 0 : tm_intern_find(&engine->types, type->string, type->length);
    bool is_any = id < engine->structure_capacity && (type == NULL || id != 0);
    return is_any ? engine->structures[id] : NULL;
}

bool tm_interval_compares(const tm_engine *engine, uint32_t handle) {
    return handle < engine->place_capacity && engine->places[handle].structure != NULL;
}

static void ask_covering(tm_engine *engine, const tm_interval_draft *draft, const tm_structure *structure,
                         tm_handles *found) {
    question asked = {engine, draft, found, .steps = TM_COVERING_STEPS};
    if (structure != NULL && !is_over(&asked)) {
        mark(&asked, true);
        find_covering(&asked, structure);
        mark(&asked, false);
    }
}

/* A constraint that is not intervals is left out of the draft, which then matches more than the filter: what covers the
 * draft covers the filter. */
void tm_interval_covering(tm_engine *engine, const tm_filter *filter, tm_handles *found) {
    tm_interval_draft draft;
    (void)tm_interval_draft_of(filter, engine->ways.by_type, &draft);
    if (draft.type != NULL && !never_matches(&draft)) {
        ask_covering(engine, &draft, structure_of(engine, draft.type), found);
        (void)tm_interval_draft_of(filter, false, &draft); /* the other filters know the type as an attribute */
    }
    if (!never_matches(&draft)) {
        ask_covering(engine, &draft, structure_of(engine, NULL), found);
    }
}

void tm_interval_covered(tm_engine *engine, const tm_filter *filter, tm_handles *found) {
    tm_interval_draft draft;
    if (!tm_interval_draft_of(filter, engine->ways.by_type, &draft) || never_matches(&draft)) {
        return;
    }
    question asked = {engine, &draft, found, .steps = TM_COVERING_STEPS};
    const tm_structure *only = structure_of(engine, draft.type); /* where the filter has a type */
    mark(&asked, true);
    for (uint32_t type = 0; type < engine->structure_capacity && spend(&asked, 1) && !is_over(&asked); type++) {
        const tm_structure *structure = engine->structures[type];
        bool is_read = structure != NULL && (draft.type == NULL || structure == only);
        if (is_read && find_axes(&asked, structure)) {
            find_covered(&asked, structure);
        }
    }
    mark(&asked, false);
}
