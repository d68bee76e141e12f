/* validate.c - checks every invariant of the engine `interval`: for tests. */
#include "engines/interval/engine.h"
#include "engines/papers/counting_validate.h"

static int fail(const char **reason, const char *why) {
    *reason = why;
    return TM_MISUSED;
}

/* ---- axes ---- */

static bool has_members(const tm_interval_set *set) {
    uint32_t count = 0;
    for (uint32_t index = 0; index < set->capacity && set->is_bits; index++) {
        count += tm_bit_count(tm_set_words(set)[index]);
    }
    for (uint32_t i = 0; i < set->count && !set->is_bits; i++) {
        count += i == 0 || tm_set_ids(set)[i - 1] < tm_set_ids(set)[i];
    }
    return count == set->count && (set->count > 0 || set->items == NULL);
}

static int validate_edges(const tm_axis *axis, const char **reason) {
    uint64_t members = 0;
    uint32_t empty = 0;
    for (uint32_t place = 0; place < axis->count; place++) {
        const tm_edge *edge = axis->edges[place];
        members += edge->set.count;
        empty += edge->set.count == 0;
        if (!has_members(&edge->set)) {
            return fail(reason, "a set does not have the filters that it counts");
        }
        if (edge->refs == 0) {
            return fail(reason, "no interval ends at an edge");
        }
        if (place > 0 && tm_cut_compare(&axis->edges[place - 1]->cut, &edge->cut) >= 0) {
            return fail(reason, "cuts do not rise");
        }
        if (place > 0 && tm_set_equals(&axis->edges[place - 1]->set, &edge->set)) {
            return fail(reason, "two neighbours have equal filters");
        }
    }
    if (axis->count == 0 || axis->edges[axis->count - 1]->cut.kind != TM_CUT_END) {
        return fail(reason, "the last edge is not the end of all values");
    }
    return members == axis->members && empty == axis->empty ? TM_OK : fail(reason, "an axis counts its sets wrong");
}

/* Counts of what the parts of filters hold and reach: edges are held by parts, and sets have only filters whose parts
 * reach across them. */
typedef struct counts {
    uint64_t held;
    uint64_t reached;
    uint64_t cares;
} counts;

static bool count_part(const tm_part *part, uint32_t seat, counts *tallied) {
    if (part->high == NULL) {
        tallied->cares++;
        return tm_axis_is_cared(part->axis, seat);
    }
    uint32_t last = tm_part_last(part);
    uint32_t place = tm_part_first(part);
    tallied->held += part->low != NULL ? 2 : 1;
    tallied->reached += last + 1 - place;
    while (place <= last && tm_set_has(&part->axis->edges[place]->set, seat)) {
        place++;
    }
    return place > last;
}

/* ---- structures ---- */

static int validate_seat(const tm_engine *engine, const tm_structure *structure, uint32_t seat, counts *tallied,
                         const char **reason) {
    const tm_interval_seat *row = &structure->seats[seat];
    if (row->handle >= engine->place_capacity || engine->places[row->handle].structure != structure ||
        engine->places[row->handle].seat != seat) {
        return fail(reason, "a handle does not know its seat");
    }
    for (uint32_t i = 0; i < row->part_count; i++) {
        if (!count_part(&row->parts[i], seat, tallied)) {
            return fail(reason, "a filter is not in a set that it reaches");
        }
    }
    return TM_OK;
}

static int validate_axes(const tm_structure *structure, const counts *tallied, const char **reason) {
    counts found = {0};
    for (uint32_t i = 0; i < structure->axis_count; i++) {
        const tm_axis *axis = structure->axes[i];
        int result = validate_edges(axis, reason);
        if (result != TM_OK) {
            return result;
        }
        uint64_t bits = 0;
        for (uint32_t index = 0; index < axis->care_words; index++) {
            bits += tm_bit_count(axis->cares[index]);
        }
        if (bits != axis->care_count || bits == 0) {
            return fail(reason, "an axis has no filters, or counts them wrong");
        }
        for (uint32_t place = 0; place < axis->count; place++) {
            found.held += axis->edges[place]->refs;
        }
        found.held--; /* the last edge holds itself */
        found.reached += axis->members;
        found.cares += axis->care_count;
    }
    if (found.held != tallied->held || found.reached != tallied->reached || found.cares != tallied->cares) {
        return fail(reason, "an axis has a filter or an edge that no filter's parts have");
    }
    return TM_OK;
}

static int validate_structure(const tm_engine *engine, const tm_structure *structure, const char **reason) {
    counts tallied = {0};
    uint32_t filters = 0;
    for (uint32_t seat = 0; seat < structure->seat_count; seat++) {
        if (!tm_bit_at(structure->used, seat)) {
            continue;
        }
        filters++;
        int result = validate_seat(engine, structure, seat, &tallied, reason);
        if (result != TM_OK) {
            return result;
        }
    }
    if (filters != structure->filters || filters == 0) {
        return fail(reason, "a structure has no filters, or counts them wrong");
    }
    if (engine->room.id_capacity < structure->seat_count) {
        return fail(reason, "there is no room to match a structure");
    }
    return validate_axes(structure, &tallied, reason);
}

/* ---- the engine ---- */

int tm_interval_validate(const tm_engine *engine, const char **reason) {
    int result = tm_counting_validate(&engine->core, reason);
    uint32_t seated = 0;
    uint32_t kept = 0;
    for (uint32_t type = 0; type < engine->structure_capacity && result == TM_OK; type++) {
        const tm_structure *structure = engine->structures[type];
        if (structure == NULL) {
            continue;
        }
        result = validate_structure(engine, structure, reason);
        seated += structure->filters;
        for (uint32_t seat = structure->removed; seat != TM_SEAT_NONE; seat = structure->seats[seat].removed) {
            kept++;
        }
    }
    if (result != TM_OK) {
        return result;
    }
    for (uint32_t name = 0; name < engine->present_capacity; name++) {
        if (engine->present[name] != 0) {
            return fail(reason, "a match left a name behind");
        }
    }
    if (seated != engine->seated || kept != engine->holders->kept ||
        seated - kept + engine->core.live != engine->holders->live) {
        return fail(reason, "a filter neither sits nor is counted, or both");
    }
    return TM_OK;
}
