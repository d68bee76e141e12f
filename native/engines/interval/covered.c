/* covered.c - the filters that a filter covers, from the sets (paper 003, 4.1.4).
 *
 *     celsius  (.. 18]   (18 .. 21]   (21 ..]        x > 18 is filter 2, x > 21 is filter 3:
 *                {}         {2}        {2 3}         no edge outside of 2 has 3, so 2 covers 3
 *
 * Law: a filter covers those that have a predicate on each of its attributes, and that are in no set outside of its
 * intervals there. The result has all such filters that are in structures and that some message satisfies, except that
 * a filter of one type is compared only with those of its type; filters that are counted are never in it.
 */
#include <string.h>

#include "engines/interval/covered.h"

/* The intervals of the covering filter on one attribute: rising parts, each with edges. */
typedef struct inside {
    const tm_part *parts;
    uint32_t count;
} inside;

/* true if the range between the cuts is inside one part. `*at` is where to search: cuts rise from one call to the
 * next. */
static bool lies_inside(const inside *of, uint32_t *at, const tm_cut *low, const tm_cut *high) {
    while (*at < of->count && tm_cut_compare(&of->parts[*at].high->cut, high) < 0) {
        ++*at;
    }
    if (*at == of->count) {
        return false;
    }
    const tm_edge *begin = of->parts[*at].low;
    return begin == NULL || tm_cut_compare(&begin->cut, low) <= 0;
}

static void leave_out(const tm_interval_set *set, uint64_t *bits, uint32_t words) {
    for (uint32_t index = 0; index < words && set->is_bits; index++) {
        bits[index] &= ~tm_set_word(set, index);
    }
    for (uint32_t i = 0; i < set->count && !set->is_bits; i++) {
        tm_bit_clear(bits, tm_set_ids(set)[i]);
    }
}

static void keep_inside(const inside *of, const tm_axis *axis, uint64_t *bits, uint32_t words) {
    for (uint32_t index = 0; index < words; index++) {
        bits[index] &= tm_axis_care_word(axis, index);
    }
    uint32_t at = 0;
    for (uint32_t place = 0; place < axis->count; place++) {
        const tm_cut *low = place == 0 ? &tm_cut_first : &axis->edges[place - 1]->cut;
        if (!lies_inside(of, &at, low, &axis->edges[place]->cut)) {
            leave_out(&axis->edges[place]->set, bits, words);
        }
    }
}

/* true if the type of a structure, which its filters require, is inside the intervals. */
static bool type_lies_inside(const tm_engine *engine, const tm_structure *structure, const inside *of) {
    const tm_interned *type = &engine->types.entries[structure->type];
    tm_cut low = tm_cut_of_text(type->bytes, type->length, false);
    tm_cut high = tm_cut_of_text(type->bytes, type->length, true);
    uint32_t at = 0;
    return lies_inside(of, &at, &low, &high);
}

static const tm_axis *axis_called(const tm_structure *structure, uint32_t name) {
    for (uint32_t i = 0; i < structure->axis_count; i++) {
        if (structure->axes[i]->name == name) {
            return structure->axes[i];
        }
    }
    return NULL;
}

static bool is_type(const tm_engine *engine, uint32_t name) {
    return tm_intern_find(&engine->names, (const uint8_t *)TM_TYPE_NAME, TM_TYPE_NAME_LENGTH) == name;
}

/* Find the seats of a structure whose filters are inside the intervals of `row`. */
static void find_covered(const tm_engine *engine, const tm_interval_seat *row, const tm_structure *structure,
                         uint64_t *bits) {
    uint32_t words = tm_structure_words(structure);
    memcpy(bits, structure->used, sizeof *bits * words);
    for (uint32_t first = 0; first < row->part_count;) {
        uint32_t end = first + 1;
        while (end < row->part_count && row->parts[end].high != NULL) {
            end++;
        }
        inside of = {&row->parts[first + 1], end - first - 1};
        uint32_t name = row->parts[first].axis->name;
        const tm_axis *axis = axis_called(structure, name);
        if (axis != NULL) {
            keep_inside(&of, axis, bits, words);
        } else if (structure->type == 0 || !is_type(engine, name) || !type_lies_inside(engine, structure, &of)) {
            memset(bits, 0, sizeof *bits * words);
        }
        first = end;
    }
}

static int tell(tm_engine *engine, const tm_interval_place *place, const tm_structure *structure, uint32_t *handles,
                size_t capacity, size_t *count) {
    uint32_t words = tm_structure_words(structure);
    uint64_t *bits = TM_NEW(engine->core.memory, TM_COLD, uint64_t, words);
    if (bits == NULL) {
        return TM_NO_MEMORY;
    }
    find_covered(engine, &place->structure->seats[place->seat], structure, bits);
    for (uint32_t seat = 0; seat < structure->seat_count; seat++) {
        uint32_t handle = structure->seats[seat].handle;
        bool is_itself = structure == place->structure && seat == place->seat;
        if (!tm_bit_at(bits, seat) || is_itself || !tm_holders_is_live(engine->holders, handle)) {
            continue;
        }
        if (*count < capacity) {
            handles[*count] = handle;
        }
        ++*count;
    }
    TM_DELETE(engine->core.memory, TM_COLD, bits, uint64_t, words);
    return TM_OK;
}

int tm_interval_covered(tm_engine *engine, uint32_t handle, uint32_t *handles, size_t capacity, size_t *count) {
    *count = 0;
    if (handle >= engine->place_capacity || engine->places[handle].structure == NULL) {
        return TM_MISUSED; /* counted, not in a structure */
    }
    const tm_interval_place *place = &engine->places[handle];
    int result = TM_OK;
    for (uint32_t type = 0; type < engine->structure_capacity && result == TM_OK; type++) {
        const tm_structure *structure = engine->structures[type];
        bool is_of_all = place->structure->type == 0; /* a filter of one type covers none of others */
        if (structure != NULL && (is_of_all || structure == place->structure)) {
            result = tell(engine, place, structure, handles, capacity, count);
        }
    }
    return result;
}
