/* box_matching.h - the boxes that a message is in.
 *
 * Law: as in boxes.h: a row with TAMIS_LAST has matched, any other is asked for all of its tests. Private to match.c.
 */
#ifndef TM_ONEPATH_BOX_MATCHING_H
#define TM_ONEPATH_BOX_MATCHING_H

#include "engines/onepath/boxes.h"
#include "engines/onepath/reach.h"

/* What need not be looked for: of interfaces with cells, in a plain answer. */
static void note_settled(const matching *m, tm_box_query *query) {
    for (uint32_t word = 0; word < TM_BOX_WORDS; word++) {
        query->settled[word] = m->plain && word < m->engine->cell_words ? m->matched[word] : 0;
    }
}

static void see_box(matching *m, uint32_t body, uint32_t interface) {
    if (is_settled(m, interface & ~TAMIS_LAST)) {
        return;
    }
    if (interface & TAMIS_LAST) {
        emit(m, interface & ~TAMIS_LAST, tamis_body_at(m->engine, body)->handle);
    } else if (tm_work_spend(&m->work, WORK_BODY)) {
        tamis_entry entry = {.interface = interface, .rest = body};
        verify(m, &entry);
    }
}

/* Rows without handles: append those of interfaces without cells of which the box says all, for an answer that lists
 * interfaces and has room; the others are left. An answer is direct where `marks` is NULL. No branch depends on a row,
 * which no processor foresees. */
static inline uint32_t append_rows(tm_answer *answer, uint64_t *marks, const uint32_t *interfaces, uint32_t rows) {
    uint32_t *groups = answer->hits->groups;
    size_t count = answer->count;
    uint32_t others = 0;
    for (; rows != 0; rows &= rows - 1) {
        uint32_t row = (uint32_t)__builtin_ctz(rows);
        uint32_t interface = interfaces[row] ^ TAMIS_LAST; /* where it was not set, it is beyond all interfaces now */
        uint32_t is_other = (interface < TAMIS_CELL_INTERFACES) | (interface >> 31);
        uint32_t is_open = is_other ^ 1;
        if (marks != NULL) {
            uint64_t *word = &marks[is_other ? 0 : interface / 64];
            is_open &= (uint32_t)~(*word >> (interface % 64)) & 1;
            *word |= (uint64_t)is_open << (interface % 64);
        }
        groups[count] = interface;
        count += is_open;
        others |= is_other << row;
    }
    answer->count = count;
    return others;
}

static bool has_room(const tm_answer *answer, uint32_t rows) {
    const tm_hits *hits = answer->hits;
    return hits->handles == NULL && hits->bits == NULL && answer->count + rows < hits->capacity;
}

/* As many of these rows as can be are appended; the others are left. */
static uint32_t append_some(const matching *m, const uint32_t *interfaces, uint32_t rows) {
    tm_answer *answer = m->answer;
    if (m->wants_handles || !has_room(answer, tm_bit_count(rows))) {
        return rows;
    }
    if (answer->direct) {
        return append_rows(answer, NULL, interfaces, rows);
    }
    bool is_list = answer->form == TM_ANSWER_INTERFACES && !answer->distinct && tm_answer_is_whole(answer);
    return is_list ? append_rows(answer, answer->marks, interfaces, rows) : rows;
}

/* Rows without handles of which the box says all; the others are left. */
static uint32_t emit_said(matching *m, const uint32_t *interfaces, uint32_t rows) {
    uint32_t others = 0;
    for (; rows != 0; rows &= rows - 1) {
        uint32_t row = (uint32_t)__builtin_ctz(rows);
        if (interfaces[row] & TAMIS_LAST) {
            emit_if_open(m, interfaces[row] & ~TAMIS_LAST, 0);
        } else {
            others |= 1U << row;
        }
    }
    return others;
}

/* Rows whose tests are to be asked, or whose filters are wanted by handle. */
static void ask_rows(matching *m, const uint32_t *bodies, const uint32_t *interfaces, uint32_t rows) {
    for (uint32_t left = rows; left != 0; left &= left - 1) {
        __builtin_prefetch(tamis_body_at(m->engine, bodies[__builtin_ctz(left)]));
    }
    for (; rows != 0; rows &= rows - 1) {
        uint32_t row = (uint32_t)__builtin_ctz(rows);
        see_box(m, bodies[row], interfaces[row]);
    }
}

static bool see_rows(tm_box_query *query, const uint32_t *bodies, const uint32_t *interfaces, uint32_t rows) {
    matching *m = query->owner;
    m->work = query->work;
    rows = append_some(m, interfaces, rows);
    if (!m->wants_handles) {
        rows = emit_said(m, interfaces, rows);
    }
    ask_rows(m, bodies, interfaces, rows);
    query->work = m->work;
    note_settled(m, query);
    return !is_full(m) && !tm_work_is_over(&m->work);
}

/* The attribute as a family takes it, whose name's kind is given; false: as no constant that the table knows. */
static bool value_for(const matching *m, uint64_t state, unsigned kind, tm_box_value *out) {
    const tm_attribute *value = &m->attributes[state_attribute(state)];
    double place;
    switch (kind) {
    case TAMIS_NUMBER:
        *out = tm_box_value_of(value->kind == TM_KIND_FLOAT, value->integer, value->real);
        return true;
    case TAMIS_BY_CONSTANT:
        place = m->views[state_attribute(state)].constant;
        break;
    default:
        place = state_code(state);
    }
    *out = (tm_box_value){place, place};
    return kind != TAMIS_BY_CONSTANT || m->views[state_attribute(state)].constant != TM_NO_STRING;
}

/* The message in the space of a family; false: a name is missing, or has a value of another kind. */
static bool find_point(matching *m, const tm_family *family, tm_box_query *query) {
    for (uint32_t i = 0; i < family->tree.names; i++) {
        uint64_t state = m->engine->state[family->names[i] >> 2];
        unsigned kind = family->names[i] & 3;
        if (state == 0 || state_kind(state) != (kind == TAMIS_BY_CONSTANT ? TAMIS_STRING : kind)) {
            return false;
        }
        if (kind == TAMIS_STRING) {
            query->labels[i] = m->views[state_attribute(state)].label;
        } else if (!value_for(m, state, kind, &query->values[i])) {
            return false;
        }
    }
    return true;
}

/* A family, and those that are stricter as long as guards hold. */
static inline void see_row(matching *m, const tm_family *family, tm_box_query *query) {
    for (; family != NULL && !is_full(m) && tm_work_spend(&query->work, 1); family = family->stricter) {
        m->work = query->work;
        bool may_hold = family->guard == TM_FAMILY_UNGUARDED || holds(m, family->guard);
        bool is_in_space = may_hold && find_point(m, family, query);
        query->work = m->work;
        if (is_in_space) {
            tm_boxes_match(&family->tree, query);
        }
        if (!may_hold) {
            return;
        }
    }
}

static void see_boxes(matching *m) {
    tm_box_query query = {.work = m->work, .found = see_rows, .owner = m};
    note_settled(m, &query);
    for (uint32_t i = 0; i < m->known_count; i++) {
        const tm_family *family = tm_families_at(&m->engine->families, m->known[i].name);
        for (; family != NULL; family = family->next) {
            see_row(m, family, &query);
        }
    }
    m->work = query.work;
}

#endif
