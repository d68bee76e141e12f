/* survivors.c - intersections. Law: see survivors.h. */
#include "engines/interval/survivors.h"
#include "base/grow.h"

#define PLACES_PER_WORD 2U
#define SEARCH_FROM 32U /* a list this many times as long as the other one is searched for each pointer */

int tm_survivor_room_reserve(tm_survivor_room *room, tm_memory *memory, uint32_t seats) {
    bool is_done =
        tm_grow(memory, TM_HOT, &room->ids, sizeof *room->ids, &room->id_capacity, seats) &&
        tm_grow(memory, TM_HOT, &room->words, sizeof *room->words, &room->word_capacity, tm_bit_words(seats));
    return is_done ? TM_OK : TM_NO_MEMORY;
}

void tm_survivor_room_free(tm_survivor_room *room, tm_memory *memory) {
    TM_DELETE(memory, TM_HOT, room->ids, uint32_t, room->id_capacity);
    TM_DELETE(memory, TM_HOT, room->words, uint64_t, room->word_capacity);
    *room = (tm_survivor_room){0};
}

tm_survivors tm_survivors_all(const tm_structure *structure) {
    return (tm_survivors){structure->used, structure->filters, tm_structure_words(structure), true, true};
}

/* The operands of one intersection; all are borrowed. */
typedef struct meeting {
    const tm_structure *structure;
    const tm_axis *axis;
    const tm_interval_set *set;
    tm_survivor_room *room;
    uint32_t words;
    bool has_others; /* filters without a predicate on the axis */
} meeting;

static bool is_other(const meeting *m, uint32_t id) {
    return m->has_others && !tm_axis_is_cared(m->axis, id);
}

static tm_survivors as_ids(uint32_t count, tm_survivor_room *room) {
    return (tm_survivors){.items = room->ids, .count = count};
}

static tm_survivors as_bits(uint32_t count, const meeting *m) {
    return (tm_survivors){.items = m->room->words, .count = count, .words = m->words, .is_bits = true};
}

static uint64_t word_of(const tm_survivors *survivors, uint32_t index) {
    return index < survivors->words ? ((const uint64_t *)survivors->items)[index] : 0;
}

static tm_survivors listed(const tm_survivors *survivors, tm_survivor_room *room) {
    uint32_t count = 0;
    for (uint32_t index = 0; index < survivors->words; index++) {
        for (uint64_t word = word_of(survivors, index); word != 0; word &= word - 1) {
            room->ids[count++] = index * 64 + (uint32_t)__builtin_ctzll(word);
        }
    }
    return as_ids(count, room);
}

/* ---- survivors as bits ---- */

static tm_survivors bits_by_bits(const meeting *m, const tm_survivors *survivors) {
    uint32_t count = 0;
    for (uint32_t index = 0; index < m->words; index++) {
        uint64_t stay = tm_set_word(m->set, index) | (m->has_others ? ~tm_axis_care_word(m->axis, index) : 0);
        uint64_t word = word_of(survivors, index) & stay;
        m->room->words[index] = word;
        count += tm_bit_count(word);
    }
    return as_bits(count, m);
}

/* Copy the pointers of the set that survive. */
static uint32_t pick_from_bits(const meeting *m, const tm_survivors *survivors) {
    const uint32_t *ids = tm_set_ids(m->set);
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->set->count; i++) {
        m->room->ids[count] = ids[i];
        count += word_of(survivors, ids[i] / 64) >> (ids[i] % 64) & 1;
    }
    return count;
}

/* Keep the survivors without a predicate, and the pointers of the set. */
static tm_survivors bits_by_ids_and_others(const meeting *m, const tm_survivors *survivors) {
    uint32_t picked = pick_from_bits(m, survivors);
    uint32_t count = picked;
    for (uint32_t index = 0; index < m->words; index++) {
        uint64_t word = word_of(survivors, index) & ~tm_axis_care_word(m->axis, index);
        m->room->words[index] = word;
        count += tm_bit_count(word);
    }
    for (uint32_t i = 0; i < picked; i++) {
        tm_bit_set(m->room->words, m->room->ids[i]);
    }
    return as_bits(count, m);
}

static tm_survivors meet_bits(const meeting *m, const tm_survivors *survivors, uint64_t *places) {
    *places += PLACES_PER_WORD * (uint64_t)m->words * (m->has_others ? 2 : 1);
    if (m->set->is_bits) {
        *places += PLACES_PER_WORD * (uint64_t)m->words;
        return bits_by_bits(m, survivors);
    }
    *places += m->set->count;
    return m->has_others ? bits_by_ids_and_others(m, survivors) : as_ids(pick_from_bits(m, survivors), m->room);
}

/* ---- survivors as pointers ---- */

static tm_survivors each_looked_up(const meeting *m, const tm_survivors *survivors) {
    const uint32_t *ids = survivors->items;
    uint32_t count = 0;
    for (uint32_t i = 0; i < survivors->count; i++) {
        uint32_t id = ids[i];
        m->room->ids[count] = id;
        count += tm_set_has(m->set, id) || is_other(m, id);
    }
    return as_ids(count, m->room);
}

static tm_survivors merged(const meeting *m, const tm_survivors *survivors) {
    const uint32_t *ids = survivors->items;
    const uint32_t *others = tm_set_ids(m->set);
    uint32_t count = 0;
    uint32_t at = 0;
    for (uint32_t i = 0; i < survivors->count; i++) {
        uint32_t id = ids[i];
        while (at < m->set->count && others[at] < id) {
            at++;
        }
        m->room->ids[count] = id;
        count += (at < m->set->count && others[at] == id) || is_other(m, id);
    }
    return as_ids(count, m->room);
}

static uint32_t bits_of(uint32_t number) {
    return number == 0 ? 0 : 32 - (uint32_t)__builtin_clz(number);
}

static tm_survivors meet_ids(const meeting *m, const tm_survivors *survivors, uint64_t *places) {
    if (m->set->is_bits) {
        *places += survivors->count;
        return each_looked_up(m, survivors);
    }
    if (m->set->count > (uint64_t)SEARCH_FROM * survivors->count) {
        *places += (uint64_t)survivors->count * bits_of(m->set->count);
        return each_looked_up(m, survivors);
    }
    *places += (uint64_t)survivors->count + m->set->count;
    return merged(m, survivors);
}

tm_survivors tm_survivors_meet(tm_survivors survivors, const tm_structure *structure, const tm_axis *axis,
                               const tm_interval_set *set, uint32_t dense_from, tm_survivor_room *room,
                               uint64_t *places) {
    static const tm_interval_set nothing;
    meeting m = {.structure = structure,
                 .axis = axis,
                 .set = set != NULL ? set : &nothing,
                 .room = room,
                 .words = tm_structure_words(structure),
                 .has_others = axis->care_count < structure->filters};
    if (!m.has_others && (m.set->count == 0 || survivors.is_all)) {
        return (tm_survivors){m.set->items, m.set->count, m.set->is_bits ? m.set->capacity : 0, m.set->is_bits, false};
    }
    tm_density density = {dense_from, structure->filters};
    if (survivors.is_bits && !survivors.is_all && !tm_density_is_dense(density, survivors.count)) {
        *places += survivors.count;
        survivors = listed(&survivors, room);
    }
    return survivors.is_bits ? meet_bits(&m, &survivors, places) : meet_ids(&m, &survivors, places);
}

tm_survivors tm_survivors_padded(tm_survivors survivors, const tm_structure *structure, tm_survivor_room *room) {
    if (!survivors.is_bits || survivors.items == room->words) {
        return survivors;
    }
    uint32_t words = tm_structure_words(structure);
    for (uint32_t index = 0; index < words; index++) {
        room->words[index] = word_of(&survivors, index);
    }
    survivors.items = room->words;
    survivors.words = words;
    return survivors;
}
