/* axis.c - adds and removes edges, and filters across them. Law: see axis.h. */
#include <string.h>

#include "engines/interval/axis.h"

/* ---- edges ---- */

static void free_edge(tm_edge *edge, tm_interval_store *store) {
    tm_set_free(&edge->set, store);
    tm_store_free(store, (void *)(uintptr_t)edge->cut.text, edge->cut.length);
    tm_store_free(store, edge, sizeof *edge);
}

/* Make an edge at a copy of the cut, without filters; NULL if out of memory. */
static tm_edge *new_edge(const tm_cut *cut, tm_interval_store *store) {
    tm_edge *edge = tm_store_new(store, sizeof *edge);
    if (edge == NULL) {
        return NULL;
    }
    edge->cut = *cut;
    edge->cut.text = NULL;
    if (cut->length > 0) {
        uint8_t *text = tm_store_new(store, cut->length);
        if (text == NULL) {
            tm_store_free(store, edge, sizeof *edge);
            return NULL;
        }
        memcpy(text, cut->text, cut->length);
        edge->cut.text = text;
    }
    return edge;
}

uint32_t tm_axis_find(const tm_axis *axis, const tm_cut *cut) {
    uint32_t low = 0;
    uint32_t end = axis->count;
    while (low < end) {
        uint32_t middle = low + (end - low) / 2;
        if (tm_cut_compare(&axis->edges[middle]->cut, cut) < 0) {
            low = middle + 1;
        } else {
            end = middle;
        }
    }
    return low;
}

static void count_edge(tm_axis *axis, const tm_edge *edge) {
    axis->members += edge->set.count;
    axis->empty += edge->set.count == 0;
}

static void uncount_edge(tm_axis *axis, const tm_edge *edge) {
    axis->members -= edge->set.count;
    axis->empty -= edge->set.count == 0;
}

/* Split the edge at `place` at the cut, which is inside it: both parts have its filters. NULL if out of memory. */
static tm_edge *split(tm_axis *axis, tm_interval_store *store, uint32_t place, const tm_cut *cut) {
    tm_edge *edge = new_edge(cut, store);
    if (edge == NULL) {
        return NULL;
    }
    if (!tm_set_copy(&axis->edges[place]->set, store, &edge->set) ||
        !tm_store_grow(store, &axis->edges, sizeof *axis->edges, &axis->capacity, axis->count + 1)) {
        free_edge(edge, store);
        return NULL;
    }
    memmove(&axis->edges[place + 1], &axis->edges[place], sizeof *axis->edges * (axis->count - place));
    axis->edges[place] = edge;
    axis->count++;
    count_edge(axis, edge);
    return edge;
}

/* Return the edge at the cut and add a reference; NULL if out of memory. */
static tm_edge *hold(tm_axis *axis, tm_interval_store *store, const tm_cut *cut) {
    uint32_t place = tm_axis_find(axis, cut);
    tm_edge *edge = axis->edges[place];
    if (tm_cut_compare(&edge->cut, cut) != 0) {
        edge = split(axis, store, place, cut);
    }
    if (edge != NULL) {
        edge->refs++;
    }
    return edge;
}

/* Release a reference. An edge without references has the filters of the next one and is removed. */
static void release(tm_axis *axis, tm_interval_store *store, tm_edge *edge) {
    if (edge == NULL || --edge->refs > 0) {
        return;
    }
    uint32_t place = tm_axis_find(axis, &edge->cut);
    uncount_edge(axis, edge);
    axis->count--;
    memmove(&axis->edges[place], &axis->edges[place + 1], sizeof *axis->edges * (axis->count - place));
    tm_store_shrink(store, &axis->edges, sizeof *axis->edges, &axis->capacity, axis->count);
    free_edge(edge, store);
}

/* ---- creation and release ---- */

tm_axis *tm_axis_new(tm_interval_store *store, uint32_t name) {
    tm_axis *axis = tm_store_new(store, sizeof *axis);
    if (axis == NULL) {
        return NULL;
    }
    axis->name = name;
    tm_edge *last = new_edge(&tm_cut_end, store);
    if (last == NULL || !tm_store_grow(store, &axis->edges, sizeof *axis->edges, &axis->capacity, 1)) {
        tm_store_free(store, last, sizeof *last);
        tm_store_free(store, axis, sizeof *axis);
        return NULL;
    }
    last->refs = 1;
    axis->edges[0] = last;
    axis->count = 1;
    count_edge(axis, last);
    return axis;
}

void tm_axis_free(tm_axis *axis, tm_interval_store *store) {
    for (uint32_t place = 0; place < axis->count; place++) {
        free_edge(axis->edges[place], store);
    }
    tm_store_free(store, axis->edges, sizeof *axis->edges * axis->capacity);
    tm_store_free(store, axis->cares, sizeof *axis->cares * axis->care_words);
    tm_store_free(store, axis, sizeof *axis);
}

/* ---- filters ---- */

bool tm_axis_care(tm_axis *axis, tm_interval_store *store, uint32_t seat) {
    if (!tm_store_grow(store, &axis->cares, sizeof *axis->cares, &axis->care_words, seat / 64 + 1)) {
        return false;
    }
    tm_bit_set(axis->cares, seat);
    axis->care_count++;
    return true;
}

void tm_axis_forget(tm_axis *axis, uint32_t seat) {
    tm_bit_clear(axis->cares, seat);
    axis->care_count--;
}

uint32_t tm_part_first(const tm_part *part) {
    return part->low == NULL ? 0 : tm_axis_find(part->axis, &part->low->cut) + 1;
}

uint32_t tm_part_last(const tm_part *part) {
    return tm_axis_find(part->axis, &part->high->cut);
}

uint32_t tm_axis_reach(const tm_axis *axis, const tm_span *span) {
    return tm_axis_find(axis, &span->high) - tm_axis_find(axis, &span->low) + 2;
}

static bool add_to(tm_axis *axis, tm_interval_store *store, uint32_t place, uint32_t seat, tm_density density) {
    tm_edge *edge = axis->edges[place];
    if (!tm_set_add(&edge->set, store, seat, density)) {
        return false;
    }
    axis->members++;
    axis->empty -= edge->set.count == 1;
    return true;
}

static void remove_from(tm_axis *axis, tm_interval_store *store, uint32_t place, uint32_t seat, tm_density density) {
    tm_edge *edge = axis->edges[place];
    tm_set_remove(&edge->set, store, seat, density);
    axis->members--;
    axis->empty += edge->set.count == 0;
}

static bool hold_ends(tm_axis *axis, tm_interval_store *store, const tm_span *span, tm_part *out) {
    bool is_first = tm_cut_compare(&span->low, &tm_cut_first) == 0;
    *out = (tm_part){.axis = axis};
    if (!is_first) {
        out->low = hold(axis, store, &span->low);
    }
    if (is_first || out->low != NULL) {
        out->high = hold(axis, store, &span->high);
    }
    if (out->high == NULL) {
        release(axis, store, out->low);
    }
    return out->high != NULL;
}

bool tm_axis_place(tm_axis *axis, tm_interval_store *store, const tm_span *span, uint32_t seat, tm_density density,
                   tm_part *out) {
    if (!hold_ends(axis, store, span, out)) {
        return false;
    }
    uint32_t first = tm_part_first(out);
    uint32_t last = tm_part_last(out);
    uint32_t place = first;
    while (place <= last && add_to(axis, store, place, seat, density)) {
        place++;
    }
    if (place > last) {
        return true;
    }
    while (place-- > first) {
        remove_from(axis, store, place, seat, density);
    }
    release(axis, store, out->high);
    release(axis, store, out->low);
    return false;
}

bool tm_axis_clear(tm_part *part, tm_interval_store *store, uint32_t seat, tm_density density, uint64_t *steps) {
    tm_axis *axis = part->axis;
    if (part->high == NULL) {
        return true;
    }
    uint32_t first = tm_part_first(part);
    uint32_t left = tm_part_last(part) + 1 - first;
    uint32_t count = 0;
    for (; count < left && *steps > 0; count++) {
        uint64_t cost = 1 + tm_set_remove_bytes(&axis->edges[first + count]->set, density) / TM_STEP_BYTES;
        *steps -= cost < *steps ? cost : *steps;
        remove_from(axis, store, first + count, seat, density);
    }
    tm_edge *low = part->low;
    if (count < left) {
        if (count > 0) { /* the rest begins after the last edge that was cleared */
            part->low = axis->edges[first + count - 1];
            part->low->refs++;
            release(axis, store, low);
        }
        return false;
    }
    release(axis, store, part->high);
    release(axis, store, low);
    part->high = NULL;
    return true;
}
