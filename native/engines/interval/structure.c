/* structure.c - adds and removes filters of the structure of an event type. Law: see structure.h. */
#include <string.h>

#include "engines/interval/structure.h"

tm_structure *tm_structure_new(tm_interval_store *store, uint32_t type) {
    tm_structure *structure = tm_store_new(store, sizeof *structure);
    if (structure != NULL) {
        structure->type = type;
        structure->free = TM_SEAT_NONE;
        structure->removed = TM_SEAT_NONE;
    }
    return structure;
}

static void free_axis(tm_axis *axis, tm_interval_store *store, tm_intern *names) {
    tm_intern_release(names, axis->name);
    tm_axis_free(axis, store);
}

static void free_parts(tm_interval_seat *seat, tm_interval_store *store) {
    tm_store_free(store, seat->parts, sizeof *seat->parts * seat->room);
    seat->parts = NULL;
    seat->room = 0;
}

void tm_structure_free(tm_structure *structure, tm_interval_store *store, tm_intern *names) {
    tm_tree_clear(&structure->tree, store);
    for (uint32_t seat = 0; seat < structure->seat_count; seat++) {
        free_parts(&structure->seats[seat], store);
    }
    for (uint32_t i = 0; i < structure->axis_count; i++) {
        free_axis(structure->axes[i], store, names);
    }
    tm_store_free(store, structure->seats, sizeof *structure->seats * structure->seat_capacity);
    tm_store_free(store, structure->used, sizeof *structure->used * structure->used_words);
    tm_store_free(store, structure, sizeof *structure);
}

/* ---- axes ---- */

static tm_axis *find_axis(const tm_structure *structure, uint32_t name) {
    for (uint32_t i = 0; i < structure->axis_count; i++) {
        if (structure->axes[i]->name == name) {
            return structure->axes[i];
        }
    }
    return NULL;
}

/* Return the axis of that name, made if there is none; NULL if out of memory. */
static tm_axis *need_axis(tm_structure *structure, tm_interval_store *store, tm_intern *names,
                          const tm_draft_axis *draft) {
    uint32_t name;
    if (tm_intern_hold(names, draft->name, draft->name_length, &name) != TM_OK) {
        return NULL;
    }
    tm_axis *axis = find_axis(structure, name);
    if (axis != NULL) {
        tm_intern_release(names, name);
        return axis;
    }
    axis = tm_axis_new(store, name);
    if (axis == NULL) {
        tm_intern_release(names, name);
        return NULL;
    }
    structure->axes[structure->axis_count++] = axis;
    return axis;
}

static void drop_axis_if_unused(tm_structure *structure, tm_interval_store *store, tm_intern *names, tm_axis *axis) {
    if (axis->care_count > 0) {
        return;
    }
    uint32_t at = 0;
    while (structure->axes[at] != axis) {
        at++;
    }
    structure->axis_count--;
    memmove(&structure->axes[at], &structure->axes[at + 1], sizeof *structure->axes * (structure->axis_count - at));
    free_axis(axis, store, names);
}

/* Return the most bytes that one more filter would write in the sets that the span reaches across. */
static uint64_t bytes_to_write(const tm_structure *structure, const tm_interval_ways *ways, const tm_axis *axis,
                               const tm_span *span) {
    tm_density density = {ways->dense_from, structure->filters + 1};
    uint32_t last = tm_axis_find(axis, &span->high);
    uint64_t bytes = 0;
    for (uint32_t place = tm_axis_find(axis, &span->low); place <= last && place < axis->count; place++) {
        bytes += tm_set_add_bytes(&axis->edges[place]->set, density, structure->free == TM_SEAT_NONE);
    }
    return bytes;
}

bool tm_structure_takes(const tm_structure *structure, const tm_interval_ways *ways, const tm_intern *names,
                        const tm_interval_draft *draft) {
    uint32_t axes = structure->axis_count;
    uint64_t reach = 0;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < draft->axis_count; i++) {
        const tm_draft_axis *drafted = &draft->axes[i];
        const tm_axis *axis = find_axis(structure, tm_intern_find(names, drafted->name, drafted->name_length));
        axes += axis == NULL;
        if (axis != NULL && axis->count + 2 * drafted->count > TM_EDGES_MAX) {
            return false;
        }
        for (uint32_t k = 0; k < drafted->count && axis != NULL && reach <= TM_REACH_MAX; k++) {
            const tm_span *span = &draft->spans[drafted->first + k];
            reach += tm_axis_reach(axis, span);
            bytes += reach <= TM_REACH_MAX ? bytes_to_write(structure, ways, axis, span) : 0;
        }
    }
    return axes <= TM_AXES_MAX && reach <= TM_REACH_MAX && bytes <= TM_PLACE_BYTES_MAX;
}

/* ---- seats ---- */

static int take_seat(tm_structure *structure, tm_interval_store *store, const tm_interval_draft *draft,
                     uint32_t *taken) {
    uint32_t seat = structure->free;
    bool is_new = seat == TM_SEAT_NONE;
    if (is_new) {
        seat = structure->seat_count;
    }
    if (!tm_store_grow(store, &structure->seats, sizeof *structure->seats, &structure->seat_capacity, seat + 1) ||
        !tm_store_grow(store, &structure->used, sizeof *structure->used, &structure->used_words, seat / 64 + 1)) {
        return TM_NO_MEMORY;
    }
    uint32_t room = draft->axis_count + draft->span_count; /* an axis without a span has a part, too */
    tm_part *parts = room > 0 ? tm_store_new(store, sizeof *parts * room) : NULL;
    if (room > 0 && parts == NULL) {
        return TM_NO_MEMORY;
    }
    tm_interval_seat *row = &structure->seats[seat];
    structure->free = is_new ? TM_SEAT_NONE : row->handle;
    structure->seat_count += is_new;
    structure->filters++;
    tm_bit_set(structure->used, seat);
    *row = (tm_interval_seat){.parts = parts, .removed = TM_SEAT_NONE, .room = (uint16_t)room};
    *taken = seat;
    return TM_OK;
}

static void leave_seat(tm_structure *structure, tm_interval_store *store, uint32_t seat) {
    tm_interval_seat *row = &structure->seats[seat];
    free_parts(row, store);
    tm_bit_clear(structure->used, seat);
    structure->filters--;
    row->handle = structure->free;
    structure->free = seat;
}

/* Remove the filter from its last part, and after the last part of an axis from the axis; false if no steps are
 * left. */
static bool clear_last(tm_structure *structure, tm_interval_store *store, const tm_interval_ways *ways,
                       tm_intern *names, uint32_t seat, uint64_t *steps) {
    tm_interval_seat *row = &structure->seats[seat];
    tm_part *part = &row->parts[row->part_count - 1];
    if (!tm_axis_clear(part, store, seat, tm_structure_density(structure, ways), steps)) {
        return false;
    }
    tm_axis *axis = part->axis;
    row->part_count--;
    if (row->part_count == 0 || row->parts[row->part_count - 1].axis != axis) {
        tm_axis_forget(axis, seat);
        drop_axis_if_unused(structure, store, names, axis);
    }
    return true;
}

static bool clear_all(tm_structure *structure, tm_interval_store *store, const tm_interval_ways *ways, tm_intern *names,
                      uint32_t seat, uint64_t *steps) {
    while (structure->seats[seat].part_count > 0) {
        if (!clear_last(structure, store, ways, names, seat, steps)) {
            return false;
        }
    }
    leave_seat(structure, store, seat);
    return true;
}

/* ---- filters ---- */

static int place_axis(tm_structure *structure, tm_interval_store *store, const tm_interval_ways *ways, tm_intern *names,
                      const tm_interval_draft *draft, const tm_draft_axis *drafted, uint32_t seat) {
    tm_interval_seat *row = &structure->seats[seat];
    tm_axis *axis = need_axis(structure, store, names, drafted);
    if (axis == NULL) {
        return TM_NO_MEMORY;
    }
    if (!tm_axis_care(axis, store, seat)) {
        drop_axis_if_unused(structure, store, names, axis);
        return TM_NO_MEMORY;
    }
    /* a part without edges comes first, so that clear_last finds the axis even if other parts fail */
    row->parts[row->part_count++] = (tm_part){.axis = axis};
    for (uint32_t k = 0; k < drafted->count; k++) {
        if (!tm_axis_place(axis, store, &draft->spans[drafted->first + k], seat, tm_structure_density(structure, ways),
                           &row->parts[row->part_count])) {
            return TM_NO_MEMORY;
        }
        row->part_count++;
    }
    return TM_OK;
}

int tm_structure_add(tm_structure *structure, tm_interval_store *store, const tm_interval_ways *ways, tm_intern *names,
                     const tm_interval_draft *draft, uint32_t handle, uint32_t *seat) {
    tm_tree_clear(&structure->tree, store);
    if (take_seat(structure, store, draft, seat) != TM_OK) {
        return TM_NO_MEMORY;
    }
    structure->seats[*seat].handle = handle;
    for (uint32_t i = 0; i < draft->axis_count; i++) {
        if (place_axis(structure, store, ways, names, draft, &draft->axes[i], *seat) != TM_OK) {
            uint64_t steps = UINT64_MAX;
            clear_all(structure, store, ways, names, *seat, &steps);
            return TM_NO_MEMORY;
        }
    }
    tm_structure_note_change(structure, ways);
    return TM_OK;
}

void tm_structure_remove(tm_structure *structure, uint32_t seat) {
    structure->seats[seat].removed = structure->removed;
    structure->removed = seat;
}

uint32_t tm_structure_sweep(tm_structure *structure, tm_interval_store *store, const tm_interval_ways *ways,
                            tm_intern *names, uint64_t *steps) {
    uint32_t seat = structure->removed;
    if (seat == TM_SEAT_NONE) {
        return TM_SEAT_NONE;
    }
    tm_tree_clear(&structure->tree, store);
    uint32_t handle = structure->seats[seat].handle;
    uint32_t next = structure->seats[seat].removed;
    if (!clear_all(structure, store, ways, names, seat, steps)) {
        return TM_SEAT_NONE;
    }
    structure->removed = next;
    tm_structure_note_change(structure, ways);
    return handle;
}
