/* answer.h - where an engine puts what matches: the one place that knows candidates, groupings and forms of answers.
 *
 * Law: the table opens an answer before it calls an engine, and closes it behind. An engine asks whether there is
 * anything to gain from a filter of an interface (tm_answer_open), tells what matches (tm_answer_emit), may stop once
 * the answer is full, and takes its steps from `work`. It may ask for fewer or more filters than that: only emitting
 * for an interface that is not open, or a filter twice, is wrong.
 *
 * The functions are inline and the form of an answer does not change during a match, so that a compiler moves questions
 * about it out of an engine's loops.
 */
#ifndef TM_ANSWER_H
#define TM_ANSWER_H

#include <string.h>

#include "base/bits.h"
#include "base/work.h"
#include "table/holders.h"
#include "table/views.h"

#define TM_ANSWER_NONE UINT32_MAX

typedef enum {
    TM_ANSWER_INTERFACES, /* which interfaces, no grouping */
    TM_ANSWER_GROUPS,     /* which groups of a grouping */
    TM_ANSWER_WHICH,      /* and a handle for each, with a grouping or without */
    TM_ANSWER_ALL,        /* every filter of the clients, without a grouping */
} tm_answer_form;

/* Of one match. Everything is borrowed. */
typedef struct tm_answer {
    tm_hits *hits;
    const tm_holders *holders;
    const tm_query *query;
    const uint64_t *candidates; /* bitset over groups; NULL: all */
    const uint32_t *grouping;   /* NULL: each interface is its own group */
    uint64_t *memo;             /* of the query */
    uint64_t *marks; /* of lists: the groups that were told; all zero between matches, and in use unless `distinct` */
    uint32_t grouping_count;
    uint32_t view;        /* of the query: what an engine has noted for it may be used; 0: none, or of no meaning */
    uint32_t group_count; /* groups past it are no candidates */
    tm_answer_form form;
    bool marked;   /* every group from which there is nothing to gain is marked, whatever the form */
    bool distinct; /* no interface is emitted twice: no look at the marks */
    bool direct;   /* all that is emitted is a row of its own, whatever the interface */
    size_t count;  /* rows so far, those that did not fit included */
    size_t wanted; /* rows after which there is nothing to gain; SIZE_MAX: not known */
    tm_work work;
} tm_answer;

/* Word `index` of the candidates: zero past group_count. */
static inline uint64_t tm_answer_candidates(const tm_answer *answer, uint32_t index) {
    uint64_t first = (uint64_t)index * 64;
    if (first >= answer->group_count) {
        return 0;
    }
    uint64_t word = answer->candidates != NULL ? answer->candidates[index] : UINT64_MAX;
    uint64_t left = answer->group_count - first;
    return left < 64 ? word & ((UINT64_C(1) << left) - 1) : word;
}

/* The group of an interface, or TM_ANSWER_NONE where it is no candidate. */
static inline uint32_t tm_answer_group(const tm_answer *answer, uint32_t interface) {
    uint32_t group = interface;
    if (answer->grouping != NULL) {
        if (interface >= answer->grouping_count) {
            return TM_ANSWER_NONE;
        }
        group = answer->grouping[interface];
    }
    if (group >= answer->group_count || (answer->candidates != NULL && !tm_bit_at(answer->candidates, group))) {
        return TM_ANSWER_NONE;
    }
    return group;
}

/* Is there anything to gain from a filter of this interface? */
static inline bool tm_answer_open(const tm_answer *answer, uint32_t interface) {
    if (answer->direct) {
        return true;
    }
    uint32_t group = tm_answer_group(answer, interface);
    if (answer->form == TM_ANSWER_ALL) {
        return group != TM_ANSWER_NONE && tm_holders_is_client(answer->holders, interface);
    }
    if (group == TM_ANSWER_NONE || answer->hits->bits != NULL) {
        return group != TM_ANSWER_NONE && !tm_bit_at(answer->hits->bits, group);
    }
    return answer->distinct || !tm_bit_at(answer->marks, group);
}

/* The interfaces of a word of so many, from `index` * 64 on, from which there is something to gain; for an answer
 * without a grouping, of a word below tm_bit_words(group_count). */
static inline uint64_t tm_answer_open_word(const tm_answer *answer, uint32_t index) {
    uint64_t word = tm_answer_candidates(answer, index) & answer->holders->occupied[index];
    if (answer->form == TM_ANSWER_ALL) {
        return word & answer->holders->clients[index];
    }
    if (answer->hits->bits != NULL) {
        return word & ~answer->hits->bits[index];
    }
    return answer->distinct ? word : word & ~answer->marks[index];
}

/* A row of the list, which counts whether it fits or not. */
static inline void tm_answer_append(tm_answer *answer, uint32_t group, uint32_t handle) {
    const tm_hits *hits = answer->hits;
    if (answer->count < hits->capacity) {
        hits->groups[answer->count] = group;
        if (hits->handles != NULL) {
            hits->handles[answer->count] = handle;
        }
    }
    answer->count++;
}

/* A filter of the interface, which is open, matched. */
static inline void tm_answer_emit(tm_answer *answer, uint32_t interface, uint32_t handle) {
    if (answer->direct) {
        tm_answer_append(answer, interface, handle);
        return;
    }
    uint32_t group = answer->grouping != NULL ? answer->grouping[interface] : interface;
    if (answer->hits->bits != NULL) {
        tm_bit_set(answer->hits->bits, group);
        answer->count++;
        return;
    }
    if (!answer->distinct) {
        tm_bit_set(answer->marks, group);
    }
    tm_answer_append(answer, group, handle);
}

/* So many filters matched, each with its interface and handle: for a direct answer. */
static inline void tm_answer_emit_rows(tm_answer *answer, const uint32_t *interfaces, const uint32_t *handles,
                                       uint32_t count) {
    const tm_hits *hits = answer->hits;
    if (answer->count + count > hits->capacity) {
        answer->count += count;
        return;
    }
    memcpy(hits->groups + answer->count, interfaces, sizeof *interfaces * count);
    if (hits->handles != NULL) {
        memcpy(hits->handles + answer->count, handles, sizeof *handles * count);
    }
    answer->count += count;
}

/* Those of the 64 interfaces from `index` * 64 on that are set in `bits` matched: candidates, each emitted this once.
 * For answers of interfaces without a grouping. */
static inline void tm_answer_emit_word(tm_answer *answer, uint32_t index, uint64_t bits) {
    const tm_hits *hits = answer->hits;
    if (bits == 0) {
        return;
    }
    if (hits->bits != NULL) {
        hits->bits[index] |= bits;
        return;
    }
    if (hits->handles == NULL && answer->count + 64 <= hits->capacity) {
        size_t count = answer->count;
        for (; bits != 0; bits &= bits - 1) {
            hits->groups[count++] = index * 64 + (uint32_t)__builtin_ctzll(bits);
        }
        answer->count = count;
        return;
    }
    for (; bits != 0; bits &= bits - 1) {
        tm_answer_append(answer, index * 64 + (uint32_t)__builtin_ctzll(bits), 0);
    }
}

static inline bool tm_answer_is_full(const tm_answer *answer) {
    return answer->count >= answer->wanted;
}

/* Is every interface a candidate? */
static inline bool tm_answer_is_whole(const tm_answer *answer) {
    return answer->candidates == NULL && answer->group_count >= answer->holders->interface_count;
}

/* Called by an engine before it emits: it will emit each interface once at most, or for clients each filter. */
static inline void tm_answer_promise_distinct(tm_answer *answer) {
    answer->distinct = true;
    answer->direct = answer->form == TM_ANSWER_INTERFACES && answer->hits->bits == NULL && tm_answer_is_whole(answer);
}

/* For engines to which a look at every interface is worth it: mark all from which there is nothing to gain, those in
 * the bitset `excluded` of so many words (NULL: none) among them, so that the next two functions need one look, and
 * tm_answer_is_full knows. Interfaces without filters count as such. */
void tm_answer_mark_others(tm_answer *answer, const uint64_t *excluded, uint32_t words);

/* As tm_answer_open, of a marked answer; `grouped`, a constant wherever it is used: has it a grouping? */
static inline bool tm_answer_open_marked(const tm_answer *answer, uint32_t interface, bool grouped) {
    if (grouped) {
        if (interface >= answer->grouping_count) {
            return false;
        }
        interface = answer->grouping[interface];
        if (interface >= answer->group_count) {
            return false;
        }
    }
    return !tm_bit_at(answer->marks, interface);
}

/* As tm_answer_emit, of a marked answer. */
static inline void tm_answer_emit_marked(tm_answer *answer, uint32_t interface, uint32_t handle, bool grouped) {
    uint32_t group = grouped ? answer->grouping[interface] : interface;
    if (answer->hits->bits != NULL) {
        tm_bit_set(answer->hits->bits, group);
        answer->count++;
    } else {
        tm_answer_append(answer, group, handle);
    }
    if (answer->form != TM_ANSWER_ALL) {
        tm_bit_set(answer->marks, group);
    }
}

/* ---- for the table ---- */

/* Marks for any answer of a table; owned by it. */
typedef struct tm_marks {
    uint64_t *words; /* all zero between matches */
    uint32_t groups; /* there is room for: a multiple of 64 */
} tm_marks;

/* Room for as many groups. TM_NO_MEMORY: unchanged. */
int tm_marks_reserve(tm_marks *marks, tm_memory *memory, uint32_t groups);
void tm_marks_free(tm_marks *marks, tm_memory *memory);
bool tm_marks_are_clear(const tm_marks *marks);

/* An open answer; `view` is that of the query, NULL where it names none; `work` says how many steps it may take, and
 * how many have been taken. The caller has cleared `hits->bits`, and reserved marks for all interfaces and, with a
 * view, for `query->group_count` groups. */
void tm_answer_begin(tm_answer *answer, const tm_holders *holders, const tm_marks *marks, const tm_view *view,
                     const tm_query *query, tm_hits *hits, tm_work work);
/* Tell the caller; returns the result of the match. */
int tm_answer_end(tm_answer *answer);

#endif
