/* answer.h - the output of an engine: the only place that handles candidates, groupings and forms of answers.
 *
 * Law: the table opens an answer before it calls an engine, and closes it afterwards. An engine tests whether a filter
 * of an interface can add anything (tm_answer_open), emits matches (tm_answer_emit), may stop once the answer is full,
 * and takes its steps from `work`. It may test fewer or more filters than that: only emitting for an interface that is
 * not open, or a filter twice, is wrong.
 *
 * The functions are inline and the form of an answer does not change during a match, so that a compiler moves tests of
 * it out of an engine's loops.
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
    TM_ANSWER_INTERFACES, /* matching interfaces, no grouping */
    TM_ANSWER_GROUPS,     /* matching groups of a grouping */
    TM_ANSWER_WHICH,      /* with a handle for each, with or without a grouping */
    TM_ANSWER_ALL,        /* every matching filter of clients, without a grouping */
    TM_ANSWER_LIMITED,    /* up to a limit of filters for each, with or without a grouping */
} tm_answer_form;

/* The answer of one match. All pointers are borrowed. */
typedef struct tm_answer {
    tm_hits *hits;
    const tm_holders *holders;
    const tm_query *query;
    const uint64_t *candidates; /* bitset over groups; NULL: all */
    const uint32_t *grouping;   /* NULL: each interface is its own group */
    uint64_t *memo;             /* of the query */
    uint64_t *marks;            /* of lists: the emitted groups; all zero between matches, and unused if `distinct` */
    uint32_t grouping_count;
    uint32_t view;        /* of the query: an engine may use its data about it; 0: none, or without effect */
    uint32_t group_count; /* higher groups are no candidates */
    tm_answer_form form;
    bool marked;   /* every group that can add nothing is marked, in any form */
    bool distinct; /* no interface is emitted twice: marks are not read */
    bool direct;   /* every emission is a row of its own, for any interface */
    size_t count;  /* rows so far, including those that did not fit */
    size_t wanted; /* rows after which nothing can be added; SIZE_MAX: unknown */
    tm_work work;
    tm_hits *limited; /* TM_ANSWER_LIMITED: the hits of the caller, as `hits` has room for no row, and `count` is that
                         of groups beyond their limit; other forms do not have it */
} tm_answer;

/* Return word `index` of the candidates, which is 0 above group_count. */
static inline uint64_t tm_answer_candidates(const tm_answer *answer, uint32_t index) {
    uint64_t first = (uint64_t)index * 64;
    if (first >= answer->group_count) {
        return 0;
    }
    uint64_t word = answer->candidates != NULL ? answer->candidates[index] : UINT64_MAX;
    uint64_t left = answer->group_count - first;
    return left < 64 ? word & ((UINT64_C(1) << left) - 1) : word;
}

/* Return the group of an interface, or TM_ANSWER_NONE if it is no candidate. */
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

/* true if a matching filter of this interface would add to the answer */
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

/* Return which of the 64 interfaces from `index` * 64 on have filters that can add to the answer; for an answer without
 * a grouping, and `index` below tm_bit_words(group_count). */
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

/* Append a row to the list; a row that does not fit is counted. */
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

/* Count a row that does not fit. For TM_ANSWER_LIMITED, which has room for none, append it, and mark its group only if
 * it has more rows than the limit: thus other forms need no test for that one. */
void tm_answer_append_further(tm_answer *answer, uint32_t group, uint32_t handle);

/* Append a row, for any form of answer. */
static inline void tm_answer_append_or_limit(tm_answer *answer, uint32_t group, uint32_t handle) {
    if (__builtin_expect(answer->count >= answer->hits->capacity, 0)) {
        tm_answer_append_further(answer, group, handle);
    } else {
        tm_answer_append(answer, group, handle);
    }
}

/* Emit a match for an open interface. */
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
    tm_answer_append_or_limit(answer, group, handle);
}

/* Emit `count` matches with their interfaces and handles, for a direct answer. */
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

/* Emit matches for the interfaces from `index` * 64 on that are set in `bits`: candidates, each emitted this once. For
 * answers of interfaces without a grouping. */
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

/* true if every interface is a candidate */
static inline bool tm_answer_is_whole(const tm_answer *answer) {
    return answer->candidates == NULL && answer->group_count >= answer->holders->interface_count;
}

/* An engine calls this before it emits, if it emits each interface at most once, or for clients each filter. */
static inline void tm_answer_promise_distinct(tm_answer *answer) {
    answer->distinct = true;
    answer->direct = answer->form == TM_ANSWER_INTERFACES && answer->hits->bits == NULL && tm_answer_is_whole(answer);
}

/* Mark all groups that can add nothing, including those in the bitset `excluded` of `words` words (NULL: none) and
 * interfaces without filters, so that the next two functions need one test, and tm_answer_is_full is exact. For engines
 * where a pass over all interfaces pays. */
void tm_answer_mark_others(tm_answer *answer, const uint64_t *excluded, uint32_t words);

/* tm_answer_open for a marked answer; `grouped`, a constant at each call, is whether it has a grouping. */
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

/* tm_answer_emit for a marked answer. */
static inline void tm_answer_emit_marked(tm_answer *answer, uint32_t interface, uint32_t handle, bool grouped) {
    uint32_t group = grouped ? answer->grouping[interface] : interface;
    if (answer->hits->bits != NULL) {
        tm_bit_set(answer->hits->bits, group);
        answer->count++;
    } else {
        tm_answer_append_or_limit(answer, group, handle);
    }
    if (answer->form < TM_ANSWER_ALL) {
        tm_bit_set(answer->marks, group);
    }
}

/* ---- for the table ---- */

/* Marks for any answer of a table, which owns them. */
typedef struct tm_marks {
    uint64_t *words; /* all zero between matches */
    uint32_t groups; /* capacity: a multiple of 64 */
} tm_marks;

/* Make room for `groups` marks. TM_NO_MEMORY: unchanged. */
int tm_marks_reserve(tm_marks *marks, tm_memory *memory, uint32_t groups);
void tm_marks_free(tm_marks *marks, tm_memory *memory);
bool tm_marks_are_clear(const tm_marks *marks);

/* Open an answer; `view` is that of the query or NULL; `work` has the allowed steps and those taken. The caller has
 * cleared `hits->bits`, and reserved marks for all interfaces and, with a view, for `query->group_count` groups. */
void tm_answer_begin(tm_answer *answer, const tm_holders *holders, const tm_marks *marks, const tm_view *view,
                     const tm_query *query, tm_hits *hits, tm_work work);
/* Close an answer and set the counts of its hits; returns the result of the match. */
int tm_answer_end(tm_answer *answer);

#endif
