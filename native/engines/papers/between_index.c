/* between_index.c - sorted sets of lower bounds by width. Law: see between_index.h. */
#include <string.h>

#include "base/grow.h"
#include "engines/papers/between_index.h"
#include "model/grid.h"

#define SIGN ((uint64_t)1 << 63)

/* ---- places ---- */

static int64_t place_of_key(tm_number_key key) {
    int64_t integer;
    double real;
    int64_t place;
    bool is_real = tm_number_of_key(key, &integer, &real);
    tm_grid_of_number(integer, real, is_real, &place);
    return place;
}

static int64_t place_of_value(const tm_probe *value) {
    return value->text != NULL ? tm_grid_of_text(value->text, value->length) : place_of_key(value->key);
}

static int64_t place_of_bound(const tm_constraints *constraints, uint32_t id, uint16_t bound) {
    tm_atom atom = tm_constraints_operand(constraints, id, bound);
    if (atom.kind == TM_KIND_STRING) {
        const tm_interned *string = &constraints->strings.entries[atom.string];
        return tm_grid_of_text(string->bytes, string->length);
    }
    return place_of_key(tm_atom_key(&atom));
}

static tm_probe probe_at(int64_t place) {
    return tm_probe_number((tm_number_key){(uint64_t)place ^ SIGN, 0});
}

/* Compare the constraint's bound with the value, exactly. */
static int compare_bound(const tm_constraints *constraints, uint32_t id, uint16_t bound, const tm_probe *value) {
    tm_atom atom = tm_constraints_operand(constraints, id, bound);
    if (atom.kind == TM_KIND_STRING) {
        return tm_intern_compare(&constraints->strings, atom.string, value->text, value->length);
    }
    tm_number_key key = tm_atom_key(&atom);
    return key.high != value->key.high ? (key.high > value->key.high ? 1 : -1)
                                       : (key.low > value->key.low) - (key.low < value->key.low);
}

bool tm_between_reaches(const tm_constraints *constraints, uint32_t id, const tm_probe *value) {
    return compare_bound(constraints, id, 1, value) >= 0;
}

/* ---- changes ---- */

/* Return the index of the first width of at least `bits` bits. */
static uint32_t rank_of(const tm_between_index *index, uint32_t bits) {
    uint32_t at = 0;
    while (at < index->count && index->widths[at].bits < bits) {
        at++;
    }
    return at;
}

static void drop_if_empty(tm_between_index *index, tm_memory *memory, uint32_t at) {
    if (index->widths[at].set.count == 0) {
        tm_ordered_free(&index->widths[at].set, memory);
        index->count--;
        memmove(index->widths + at, index->widths + at + 1, sizeof *index->widths * (index->count - at));
    }
    if (index->count == 0) {
        tm_between_free(index, memory);
    }
}

int tm_between_add(tm_between_index *index, const tm_constraints *constraints, uint32_t id) {
    int64_t low = place_of_bound(constraints, id, 0);
    uint32_t bits = tm_grid_width(low, place_of_bound(constraints, id, 1));
    uint32_t at = rank_of(index, bits);
    if (at == index->count || index->widths[at].bits != bits) {
        if (!tm_grow(constraints->memory, TM_HOT, &index->widths, sizeof *index->widths, &index->capacity,
                     index->count + 1)) {
            return TM_NO_MEMORY;
        }
        memmove(index->widths + at + 1, index->widths + at, sizeof *index->widths * (index->count - at));
        index->widths[at] = (tm_between_width){.bits = bits};
        index->count++;
    }
    tm_probe probe = probe_at(low);
    probe.constraint = id;
    int result = tm_ordered_add(&index->widths[at].set, constraints->memory, NULL, &probe, 0);
    drop_if_empty(index, constraints->memory, at);
    return result;
}

void tm_between_remove(tm_between_index *index, const tm_constraints *constraints, uint32_t id) {
    int64_t low = place_of_bound(constraints, id, 0);
    uint32_t at = rank_of(index, tm_grid_width(low, place_of_bound(constraints, id, 1)));
    tm_probe probe = probe_at(low);
    probe.constraint = id;
    tm_ordered_remove(&index->widths[at].set, constraints->memory, NULL, &probe);
    drop_if_empty(index, constraints->memory, at);
}

void tm_between_free(tm_between_index *index, tm_memory *memory) {
    for (uint32_t at = 0; at < index->count; at++) {
        tm_ordered_free(&index->widths[at].set, memory);
    }
    TM_DELETE(memory, TM_HOT, index->widths, tm_between_width, index->capacity);
    *index = (tm_between_index){0};
}

/* ---- reading ---- */

static void match_width(const tm_between_width *width, const tm_constraints *constraints, int64_t place,
                        const tm_probe *value, tm_found *found) {
    tm_probe first = probe_at(tm_grid_reach(place, width->bits));
    tm_place at = tm_ordered_seek(&width->set, NULL, &first);
    uint64_t last = probe_at(place).key.high;
    for (; at.run < width->set.count && !found->done; at = (tm_place){at.run + 1, 0}) {
        const tm_run *run = &width->set.runs[at.run];
        tm_found_spend(found, (run->count - at.index) / 2); /* only a part of the last run is read */
        for (; at.index < run->count; at.index++) {
            const tm_entry *entry = &run->entries[at.index];
            if (entry->high > last) {
                return;
            }
            bool begins = entry->high < last || compare_bound(constraints, entry->constraint, 0, value) <= 0;
            if (begins && tm_between_reaches(constraints, entry->constraint, value)) {
                tm_found_add(found, entry->constraint);
            }
        }
    }
}

void tm_between_match(const tm_between_index *index, const tm_constraints *constraints, const tm_probe *value,
                      tm_found *found) {
    int64_t place = index->count == 0 ? 0 : place_of_value(value);
    for (uint32_t at = 0; at < index->count; at++) {
        match_width(&index->widths[at], constraints, place, value, found);
    }
}

uint64_t tm_between_count(const tm_between_index *index) {
    uint64_t total = 0;
    for (uint32_t at = 0; at < index->count; at++) {
        total += tm_ordered_count(&index->widths[at].set);
    }
    return total;
}

int tm_between_validate(const tm_between_index *index, const char **reason) {
    int result = TM_OK;
    for (uint32_t at = 0; at < index->count && result == TM_OK; at++) {
        const tm_between_width *width = &index->widths[at];
        if (width->set.count == 0 || (at > 0 && index->widths[at - 1].bits >= width->bits)) {
            *reason = "widths of intervals are out of order or have no use";
            return TM_MISUSED;
        }
        result = tm_ordered_validate(&width->set, NULL, reason);
    }
    return result;
}
