/* answer.c - answers are opened and closed. Law: see answer.h. */
#include "table/answer.h"

static uint32_t words_of(uint32_t bits) {
    return bits / 64 + (bits % 64 > 0);
}

/* ---- marks ---- */

int tm_marks_reserve(tm_marks *marks, tm_memory *memory, uint32_t links) {
    uint32_t wanted = words_of(links);
    if (wanted <= marks->capacity) {
        return TM_OK;
    }
    uint32_t capacity = wanted + wanted / 4;
    uint64_t *words = TM_NEW(memory, TM_HOT, uint64_t, capacity);
    if (words == NULL) {
        return TM_NO_MEMORY;
    }
    tm_marks_free(marks, memory); /* between matches they are all zero: nothing to copy */
    *marks = (tm_marks){words, capacity};
    return TM_OK;
}

void tm_marks_free(tm_marks *marks, tm_memory *memory) {
    TM_DELETE(memory, TM_HOT, marks->words, uint64_t, marks->capacity);
    *marks = (tm_marks){0};
}

bool tm_marks_are_clear(const tm_marks *marks) {
    uint64_t any = 0;
    for (uint32_t word = 0; word < marks->capacity; word++) {
        any |= marks->words[word];
    }
    return any == 0;
}

/* ---- opening ---- */

static tm_answer_form form_of(const tm_query *query) {
    if (query->mode == TM_MATCH_ALL) {
        return TM_ANSWER_ALL;
    }
    return query->mode == TM_MATCH_WHICH ? TM_ANSWER_WHICH : query->view != 0 ? TM_ANSWER_LINKS : TM_ANSWER_INTERFACES;
}

static size_t count_candidates(const tm_answer *answer) {
    size_t count = 0;
    for (uint32_t word = 0; answer->candidates != NULL && word < words_of(answer->link_count); word++) {
        count += (size_t)__builtin_popcountll(tm_answer_candidates(answer, word));
    }
    return answer->candidates != NULL ? count : answer->link_count;
}

/* What a grouping adds. */
static int begin_grouped(tm_answer *answer, tm_memory *memory, tm_marks *marks, const tm_view *view, uint32_t id) {
    answer->grouping = view->links;
    answer->grouping_count = view->count;
    answer->view = id;
    if (tm_marks_reserve(marks, memory, answer->link_count) != TM_OK) {
        return TM_NO_MEMORY;
    }
    answer->marks = marks->words;
    answer->mark_words = marks->capacity;
    answer->wanted = answer->form == TM_ANSWER_LINKS ? count_candidates(answer) : SIZE_MAX;
    return TM_OK;
}

/* Field by field: it is done for each message, and a compiler would clear the whole of it first. */
int tm_answer_begin(tm_answer *answer, tm_holders *holders, tm_marks *marks, const tm_view *view, const tm_query *query,
                    tm_hits *hits, uint64_t taken) {
    uint32_t interfaces = holders->interface_count;
    answer->hits = hits;
    answer->holders = holders;
    answer->candidates = query->candidates;
    answer->memo = query->memo;
    answer->form = form_of(query);
    answer->marked = false;
    answer->distinct = answer->form == TM_ANSWER_ALL;
    answer->direct = false;
    answer->count = 0;
    answer->work = (tm_work){taken, hits->steps};
    if (hits->bits != NULL) {
        memset(hits->bits, 0, sizeof *hits->bits * words_of(query->link_count));
    }
    if (view != NULL && answer->form != TM_ANSWER_ALL) {
        answer->link_count = query->link_count;
        return begin_grouped(answer, holders->memory, marks, view, query->view);
    }
    answer->grouping = NULL;
    answer->grouping_count = 0;
    answer->view = 0;
    answer->link_count = query->link_count < interfaces ? query->link_count : interfaces;
    answer->marks = marks->words;
    answer->mark_words = marks->capacity;
    answer->wanted = SIZE_MAX;
    if (answer->form == TM_ANSWER_ALL) {
        answer->direct = holders->of_clients == tm_holders_used(holders) && tm_answer_is_whole(answer);
    }
    return TM_OK;
}

/* The links of a word that are open at the beginning. */
static uint64_t open_word(const tm_answer *answer, uint32_t index) {
    uint64_t word = tm_answer_candidates(answer, index);
    if (answer->grouping != NULL) {
        return word;
    }
    word &= answer->holders->occupied[index];
    return answer->form == TM_ANSWER_ALL ? word & answer->holders->clients[index] : word;
}

/* Without a grouping marks are for all interfaces, as the last ones may be no candidates. */
static uint32_t count_marked(const tm_answer *answer) {
    return words_of(answer->grouping != NULL ? answer->link_count : answer->holders->interface_count);
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
        memset(answer->marks, 0, sizeof *answer->marks * count_marked(answer));
        return;
    }
    if (answer->distinct || hits->bits != NULL) {
        return;
    }
    if (answer->count > hits->capacity) { /* rows that did not fit have marks, too */
        memset(answer->marks, 0, sizeof *answer->marks * answer->mark_words);
        return;
    }
    for (size_t row = 0; row < answer->count; row++) {
        answer->marks[hits->links[row] / 64] = 0;
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
