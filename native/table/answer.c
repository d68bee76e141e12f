/* answer.c - opening and closing answers. Law: see answer.h. */
#include "table/answer.h"

/* ---- marks ---- */

int tm_marks_reserve(tm_marks *marks, tm_memory *memory, uint32_t groups) {
    if (groups <= marks->groups) {
        return TM_OK;
    }
    uint64_t capacity = tm_bit_words(groups);
    capacity += capacity / 4;
    if (capacity > UINT32_MAX / 64) {
        capacity = UINT32_MAX / 64;
    }
    uint64_t *words = groups <= capacity * 64 ? TM_NEW(memory, TM_HOT, uint64_t, capacity) : NULL;
    if (words == NULL) {
        return TM_NO_MEMORY;
    }
    tm_marks_free(marks, memory); /* between matches all marks are zero: nothing to copy */
    *marks = (tm_marks){words, (uint32_t)capacity * 64};
    return TM_OK;
}

void tm_marks_free(tm_marks *marks, tm_memory *memory) {
    TM_DELETE(memory, TM_HOT, marks->words, uint64_t, marks->groups / 64);
    *marks = (tm_marks){0};
}

bool tm_marks_are_clear(const tm_marks *marks) {
    uint64_t any = 0;
    for (uint32_t word = 0; word < marks->groups / 64; word++) {
        any |= marks->words[word];
    }
    return any == 0;
}

/* ---- rows ---- */

void tm_answer_append_further(tm_answer *answer, uint32_t group, uint32_t handle) {
    if (answer->form != TM_ANSWER_LIMITED) {
        answer->count++;
        return;
    }
    tm_hits *hits = answer->limited;
    if (hits->counts[group]++ == answer->query->limit) {
        tm_bit_set(answer->marks, group);
        answer->count++;
        return;
    }
    tm_bit_clear(answer->marks, group);
    if (hits->count < hits->capacity) {
        hits->groups[hits->count] = group;
        hits->handles[hits->count] = handle;
    }
    hits->count++;
}

/* ---- opening ---- */

static tm_answer_form form_of(const tm_query *query, const tm_view *view) {
    _Static_assert(TM_ANSWER_GROUPS == 1 && TM_ANSWER_WHICH == TM_MATCH_WHICH + 1 &&
                       TM_ANSWER_ALL == TM_MATCH_ALL + 1 && TM_ANSWER_LIMITED == TM_MATCH_LIMITED + 1,
                   "forms are in the order of modes");
    return query->mode == TM_MATCH_INTERFACES ? (tm_answer_form)(view != NULL) : (tm_answer_form)(query->mode + 1);
}

static size_t count_candidates(const uint64_t *candidates, uint32_t groups) {
    if (candidates == NULL || groups == 0) {
        return groups;
    }
    size_t count = 0;
    for (; groups > 64; groups -= 64) {
        count += tm_bit_count(*candidates++);
    }
    return count + tm_bit_count(*candidates << (64 - groups));
}

/* Fields are assigned one by one because it runs for each message, and a compiler would first clear the whole struct.
 */
void tm_answer_begin(tm_answer *answer, const tm_holders *holders, const tm_marks *marks, const tm_view *view,
                     const tm_query *query, tm_hits *hits, tm_work work) {
    uint32_t groups = query->group_count;
    answer->hits = hits;
    answer->holders = holders;
    answer->query = query;
    answer->candidates = query->candidates;
    answer->memo = query->memo;
    answer->marks = marks->words;
    answer->form = form_of(query, view);
    answer->marked = false;
    answer->distinct = false;
    answer->direct = false;
    answer->count = 0;
    answer->wanted = SIZE_MAX;
    answer->work = work;
    if (view != NULL && answer->form != TM_ANSWER_ALL) {
        answer->grouping = view->groups;
        answer->grouping_count = view->count;
        answer->view = query->view;
        answer->group_count = groups;
        if (answer->form == TM_ANSWER_GROUPS) {
            answer->wanted = count_candidates(query->candidates, groups);
        }
        return;
    }
    answer->grouping = NULL;
    answer->grouping_count = 0;
    answer->view = 0;
    answer->group_count = groups < holders->interface_count ? groups : holders->interface_count;
    if (answer->form == TM_ANSWER_ALL) {
        answer->distinct = true;
        answer->direct = holders->of_clients == tm_holders_used(holders) && tm_answer_is_whole(answer);
    }
}

/* Return the groups of a word that are open at the beginning. */
static uint64_t open_word(const tm_answer *answer, uint32_t index) {
    uint64_t word = tm_answer_candidates(answer, index);
    if (answer->grouping != NULL) {
        return word;
    }
    word &= answer->holders->occupied[index];
    return answer->form == TM_ANSWER_ALL ? word & answer->holders->clients[index] : word;
}

/* Without a grouping there are marks for all interfaces, as the last ones may be no candidates. */
static uint32_t count_marked(const tm_answer *answer) {
    return tm_bit_words(answer->grouping != NULL ? answer->group_count : answer->holders->interface_count);
}

void tm_answer_mark_others(tm_answer *answer, const uint64_t *excluded, uint32_t words) {
    uint64_t wanted = 0;
    for (uint32_t index = 0; index < count_marked(answer); index++) {
        uint64_t word = open_word(answer, index);
        word &= answer->grouping == NULL && index < words && excluded != NULL ? ~excluded[index] : UINT64_MAX;
        answer->marks[index] = ~word;
        wanted += (uint64_t)__builtin_popcountll(word);
    }
    answer->marked = true;
    answer->wanted = answer->form == TM_ANSWER_ALL && wanted > 0 ? SIZE_MAX : wanted;
}

/* ---- closing ---- */

static void clear_marks(const tm_answer *answer) {
    const tm_hits *hits = answer->hits;
    if (answer->marked) {
        size_t words = count_marked(answer);
        if (words > 0) { /* a table without interfaces has no marks */
            memset(answer->marks, 0, sizeof *answer->marks * words);
        }
        return;
    }
    if (answer->distinct || hits->bits != NULL) {
        return;
    }
    const size_t words = tm_bit_words(answer->group_count);
    if (answer->count > hits->capacity || answer->count > words) { /* rows that did not fit have marks, too */
        memset(answer->marks, 0, sizeof *answer->marks * words);
        return;
    }
    for (size_t row = 0; row < answer->count; row++) {
        answer->marks[hits->groups[row] / 64] = 0;
    }
}

int tm_answer_end(tm_answer *answer) {
    tm_hits *hits = answer->hits;
    clear_marks(answer);
    hits->count = answer->count;
    hits->steps = answer->work.steps;
    if (tm_work_is_over(&answer->work)) {
        hits->count = 0;
        return TM_TOO_COSTLY;
    }
    return hits->bits == NULL && answer->count > hits->capacity ? TM_TOO_MANY : TM_OK;
}
