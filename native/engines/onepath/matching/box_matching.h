/* box_matching.h - matches the boxes that contain a message.
 *
 * Law: as in boxes.h: a row with ONEPATH_LAST has matched; all tests of any other row are evaluated. Private to
 * match.c.
 */
#ifndef TM_ONEPATH_BOX_MATCHING_H
#define TM_ONEPATH_BOX_MATCHING_H

#include "engines/boxes/box.h"
#include "engines/boxes/tree_match.h"
#include "engines/onepath/matching/entry_matching.h"
#include "engines/onepath/paths/boxes.h"

/* Copy the settled interfaces with cells into the query; only a plain answer has any. */
static inline void note_settled(const matching *m, tm_box_query *query) {
    _Static_assert(sizeof query->settled == sizeof m->matched, "boxes know as many interfaces as have cells");
    if (m->plain) {
        memcpy(query->settled, m->matched, sizeof m->matched);
    } else {
        memset(query->settled, 0, sizeof query->settled);
    }
}

static void see_box(matching *m, uint32_t body, uint32_t interface) {
    if (is_settled(m, interface & ~ONEPATH_LAST)) {
        return;
    }
    if (interface & ONEPATH_LAST) {
        emit(m, interface & ~ONEPATH_LAST, onepath_body_at(m->engine, body)->handle);
    } else if (tm_work_spend(&m->answer->work, WORK_BODY)) {
        onepath_entry entry = {.interface = interface, .rest = body};
        verify(m, &entry);
    }
}

/* Rows that are appended without a branch between them: a leaf that has results rarely has more. */
#define APPENDED_AT_ONCE 4U

/* Append the interfaces of `total` rows that need no further test and have no cells; return the other rows. Where
 * `marks` is not NULL, append only interfaces that are not marked yet. No branch depends on a row, as a processor could
 * not predict it: a block that has fewer rows repeats the last one, which is counted once. `groups` has room for whole
 * blocks. */
static inline __attribute__((always_inline)) uint32_t append_blocks(uint32_t *groups, size_t *at, uint64_t *marks,
                                                                    const uint32_t *interfaces, uint32_t rows,
                                                                    uint32_t total) {
    const uint32_t last = UINT32_C(0x80000000) >> __builtin_clz(rows);
    uint32_t left = rows;
    uint32_t appended = 0;
    uint64_t is_open = 0;
    size_t count = *at;
    for (uint32_t done = 0; done < total; done += APPENDED_AT_ONCE) {
        for (uint32_t i = 0; i < APPENDED_AT_ONCE; i++, left &= left - 1) {
            uint32_t row = (uint32_t)__builtin_ctz(left | last);
            uint32_t interface = interfaces[row] - ONEPATH_LAST;
            groups[count] = interface;
            is_open = interface - ONEPATH_CELL_INTERFACES < ONEPATH_LAST - ONEPATH_CELL_INTERFACES;
            appended |= (uint32_t)is_open << row;
            if (marks != NULL) {
                uint64_t *word = &marks[interface / 64 & -is_open];
                is_open &= ~(*word >> (interface % 64));
                *word |= is_open << (interface % 64);
            }
            count += is_open;
        }
    }
    *at = marks != NULL ? count : count - (-total % APPENDED_AT_ONCE) * is_open;
    return rows & ~appended;
}

/* Append the rows that can be appended; return the others. */
static inline uint32_t append_some(const matching *m, const uint32_t *interfaces, uint32_t rows, uint32_t total) {
    tm_answer *answer = m->answer;
    if (!m->appends || answer->count + total + APPENDED_AT_ONCE > answer->hits->capacity) {
        return rows;
    }
    uint32_t *groups = answer->hits->groups;
    return answer->direct ? append_blocks(groups, &answer->count, NULL, interfaces, rows, total)
                          : append_blocks(groups, &answer->count, answer->marks, interfaces, rows, total);
}

/* true if the answer is a list of interfaces, each a row of its own or one that is not marked yet. */
static bool may_append(const matching *m) {
    const tm_answer *answer = m->answer;
    bool is_marked = answer->form == TM_ANSWER_INTERFACES && !answer->distinct && tm_answer_is_whole(answer);
    return !m->wants_handles && answer->hits->handles == NULL && answer->hits->bits == NULL &&
           (answer->direct || is_marked);
}

/* Emit rows without handles that need no further test; return the others. */
static uint32_t emit_said(matching *m, const uint32_t *interfaces, uint32_t rows) {
    uint32_t others = 0;
    for (; rows != 0; rows &= rows - 1) {
        uint32_t row = (uint32_t)__builtin_ctz(rows);
        if (interfaces[row] & ONEPATH_LAST) {
            emit_if_open(m, interfaces[row] & ~ONEPATH_LAST, 0);
        } else {
            others |= 1U << row;
        }
    }
    return others;
}

/* Set the bits of rows that need no further test and whose interface is collected as bits; return the others. */
static inline uint32_t collect_rows(matching *m, const uint32_t *interfaces, uint32_t rows) {
    uint32_t others = 0;
    for (; rows != 0; rows &= rows - 1) { /* no other branch depends on a row */
        uint32_t row = (uint32_t)__builtin_ctz(rows);
        uint32_t interface = interfaces[row] - ONEPATH_LAST;
        uint32_t word = interface / 64 % ONEPATH_CELL_WORDS;
        uint64_t is_bit = (interface < ONEPATH_CELL_INTERFACES) & m->collected[word] >> (interface % 64);
        m->matched[word] |= is_bit << (interface % 64);
        others |= (uint32_t)(is_bit ^ 1) << row;
    }
    return others;
}

/* Evaluate rows that need further tests, or whose handles are wanted. */
static void ask_rows(matching *m, const uint32_t *bodies, const uint32_t *interfaces, uint32_t rows) {
    for (uint32_t left = rows; left != 0; left &= left - 1) {
        __builtin_prefetch(onepath_body_at(m->engine, bodies[__builtin_ctz(left)]));
    }
    for (; rows != 0; rows &= rows - 1) {
        uint32_t row = (uint32_t)__builtin_ctz(rows);
        see_box(m, bodies[row], interfaces[row]);
    }
}

/* Process the rows that were not appended; false if the match is over. */
static __attribute__((noinline)) bool see_others(matching *m, tm_box_query *query, const uint32_t *bodies,
                                                 const uint32_t *interfaces, uint32_t rows) {
    m->answer->work = query->work;
    rows = m->plain ? collect_rows(m, interfaces, rows) : rows;
    rows = m->wants_handles ? rows : emit_said(m, interfaces, rows);
    ask_rows(m, bodies, interfaces, rows);
    query->work = m->answer->work;
    note_settled(m, query);
    return !is_full(m) && !tm_work_is_over(&m->answer->work);
}

static bool see_rows(tm_box_query *query, const uint32_t *bodies, const uint32_t *interfaces, uint32_t rows,
                     uint32_t total) {
    matching *m = query->owner;
    rows = append_some(m, interfaces, rows, total);
    return rows == 0 || see_others(m, query, bodies, interfaces, rows);
}

/* Return an attribute as a value of a family, by the kind of its name; false if the table knows no such constant. */
static bool value_for(const matching *m, uint64_t state, unsigned kind, tm_box_value *out) {
    const tm_attribute *value = &m->attributes[state_attribute(state)];
    double place;
    switch (kind) {
    case ONEPATH_NUMBER:
        *out = tm_box_value_of(value->kind == TM_KIND_FLOAT, value->integer, value->real);
        return true;
    case ONEPATH_BY_CONSTANT:
        place = m->views[state_attribute(state)].constant;
        break;
    default:
        place = state_code(state);
    }
    *out = (tm_box_value){place, place};
    return kind != ONEPATH_BY_CONSTANT || m->views[state_attribute(state)].constant != TM_NO_STRING;
}

/* Set the query's point in the space of a family; false if a name is missing, or has a value of another kind. */
static bool find_point(matching *m, const tm_family *family, tm_box_query *query) {
    for (uint32_t i = 0; i < family->tree.names; i++) {
        uint64_t state = m->engine->state[family->names[i] >> 2];
        unsigned kind = family->names[i] & 3;
        if (state == 0 || state_kind(state) != (kind == ONEPATH_BY_CONSTANT ? ONEPATH_STRING : kind)) {
            return false;
        }
        if (kind == ONEPATH_STRING) {
            query->labels[i] = m->views[state_attribute(state)].label;
        } else if (!value_for(m, state, kind, &query->values[i])) {
            return false;
        }
    }
    return true;
}

static inline void see_line(const matching *m, const tm_family *family, const known *at, tm_box_query *query) {
    const tm_attribute *value = &m->attributes[at->attribute];
    query->values[0] = tm_box_value_of(value->kind == TM_KIND_FLOAT, value->integer, value->real);
    tm_boxes_match_line(&family->tree, query);
}

/* Match a family and its stricter ones, as long as their guards hold. */
static void see_row(matching *m, const tm_family *family, tm_box_query *query) {
    for (; family != NULL && !is_full(m) && tm_work_spend(&query->work, 1); family = family->stricter) {
        m->answer->work = query->work;
        bool guard_holds = family->guard == TM_FAMILY_UNGUARDED || holds(m, family->guard);
        bool is_in_space = guard_holds && find_point(m, family, query);
        query->work = m->answer->work;
        if (is_in_space) {
            tm_boxes_match(&family->tree, query);
        }
        if (!guard_holds) {
            return;
        }
    }
}

/* Match the families of a home name. A line has no guard and no stricter families. */
static inline void see_home(matching *m, const known *at, const tm_family *family, tm_box_query *query) {
    for (; family != NULL && !is_full(m); family = family->next) {
        if (family->sole != (at->name << 2 | ONEPATH_NUMBER) || at->kind != ONEPATH_NUMBER) {
            see_row(m, family, query);
        } else if (tm_work_spend(&query->work, 1)) {
            see_line(m, family, at, query);
        }
    }
}

/* Match all boxes. Families and their roots are far apart: all are prefetched before the first is read. */
static void see_boxes(matching *m) {
    const tm_family *homes[TM_ATTRIBUTES_MAX]; /* those that are not empty */
    uint8_t at[TM_ATTRIBUTES_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->known_count; i++) {
        const tm_family *first = tm_families_at(&m->engine->families, m->known[i].name);
        __builtin_prefetch(first);
        homes[count] = first;
        at[count] = (uint8_t)i;
        count += first != NULL;
    }
    for (uint32_t i = 1; i < count; i++) {
        tm_boxes_ask_root(&homes[i]->tree);
    }
    tm_box_query query; /* not cleared: its arrays are written before they are read */
    query.work = m->answer->work;
    query.found = see_rows;
    query.owner = m;
    note_settled(m, &query);
    m->appends = may_append(m);
    for (uint32_t i = 0; i < count; i++) {
        see_home(m, &m->known[at[i]], homes[i], &query);
    }
    m->answer->work = query.work;
}

#endif
