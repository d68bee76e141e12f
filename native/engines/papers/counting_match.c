/* counting_match.c - one message against all filters. Law: see counting.h.
 *
 * Time goes into cache misses: a constraint, its list of filters, each filter's seat. All three are fetched ahead,
 * which is why constraints come in batches and filters are gathered before they are counted.
 */
#include "engines/papers/counting.h"

/* How far ahead of its use each thing is fetched: long enough for a miss, short enough to stay in the cache. */
#define CONSTRAINTS_AHEAD 12
#define LISTS_AHEAD 6
#define FILTERS_GATHERED 64

#define MESSAGES_MAX 0xffffffu /* a seat has 24 bits for the number of the message it was last counted in */

typedef struct matching {
    tm_found found; /* first: a tm_found is cast back to this */
    tm_counting *core;
    tm_answer *answer;
    uint32_t gathered; /* filters whose seats are being fetched */
    uint32_t filters[FILTERS_GATHERED];
} matching;

/* ---- counting ---- */

/* The papers ask first whether the interface is done, to be spared a look into a map of counters. Here counter and
 * interface are one word apart, and the question would cost a mispredicted branch for each filter, so it waits for the
 * few counts that are full: measured at a million filters, 20 interfaces, twice as fast. */
static inline void count_one(matching *run, uint32_t filter, bool grouped) {
    tm_seat *seat = &run->core->filters.seats[filter];
    uint32_t state = (seat->state >> 8 == run->found.message ? seat->state : run->found.message << 8) + 1;
    seat->state = state;
    if ((state & 0xff) == seat->required && tm_answer_open_marked(run->answer, seat->interface, grouped)) {
        tm_answer_emit_marked(run->answer, seat->interface, filter, grouped);
        run->found.done |= tm_answer_is_full(run->answer);
    }
}

static inline void count_gathered(matching *run, bool grouped) {
    uint32_t count = run->gathered;
    run->gathered = 0;
    for (uint32_t i = 0; i < count && !run->found.done; i++) {
        count_one(run, run->filters[i], grouped);
    }
}

static inline void veto_gathered(matching *run) {
    for (uint32_t i = 0; i < run->gathered; i++) {
        run->core->filters.seats[run->filters[i]].state = run->found.message << 8 | TM_SEAT_VETOED;
    }
    run->gathered = 0;
}

/* What becomes of gathered filters; a constant wherever it is used, so that each has a loop of its own. */
typedef enum { COUNT_SINGLE, COUNT_GROUPED, VETO } purpose;

static inline void use_gathered(matching *run, purpose purpose) {
    if (purpose == VETO) {
        veto_gathered(run);
    } else {
        count_gathered(run, purpose == COUNT_GROUPED);
    }
}

/* Fetch what constraint i of the batch will need: itself, then its list. */
static inline void fetch_ahead(const matching *run, uint32_t i) {
    const tm_found *found = &run->found;
    const tm_held *held = run->core->constraints.held;
    if (i + CONSTRAINTS_AHEAD < found->count) {
        __builtin_prefetch(&held[found->batch[i + CONSTRAINTS_AHEAD]]);
    }
    if (i + LISTS_AHEAD < found->count) {
        const tm_held *next = &held[found->batch[i + LISTS_AHEAD]];
        __builtin_prefetch(next->count > TM_IN_PLACE ? next->list : NULL);
    }
}

static inline void gather(matching *run, const tm_held *held, purpose purpose) {
    const uint32_t *filters = tm_held_filters(held);
    const tm_seat *seats = run->core->filters.seats;
    for (uint32_t i = 0; i < held->count && !run->found.done; i++) {
        __builtin_prefetch(&seats[filters[i]], 1);
        run->filters[run->gathered++] = filters[i];
        if (run->gathered == FILTERS_GATHERED) {
            use_gathered(run, purpose);
        }
    }
}

static inline void take(matching *run, purpose purpose) {
    uint64_t spent = 0;
    const uint64_t most = tm_work_left(&run->found.work);
    for (uint32_t i = 0; i < run->found.count && !run->found.done; i++) {
        fetch_ahead(run, i);
        const tm_held *held = &run->core->constraints.held[run->found.batch[i]];
        spent += 1 + held->count;
        if (spent > most) {
            break;
        }
        gather(run, held, purpose);
    }
    tm_found_spend(&run->found, spent);
    use_gathered(run, purpose);
}

static void take_single(tm_found *found) {
    take((matching *)found, COUNT_SINGLE);
}

static void take_grouped(tm_found *found) {
    take((matching *)found, COUNT_GROUPED);
}

static void take_vetoes(tm_found *found) {
    take((matching *)found, VETO);
}

/* ---- the match ---- */

/* Seats and constraints remember the number of a message; when numbers run out, they must forget. */
static void next_message(tm_counting *core) {
    if (core->message++ < MESSAGES_MAX) {
        return;
    }
    for (uint32_t i = 0; i < core->filters.seat_capacity; i++) {
        core->filters.seats[i].state = 0;
    }
    for (uint32_t i = 0; i < core->constraints.count; i++) {
        core->constraints.held[i].stamp = 0;
    }
    core->message = 1;
}

static void find_vetoes(matching *run, const tm_named_message *message) {
    const tm_counting *core = run->core;
    run->found.take = take_vetoes;
    for (size_t i = 0; i < message->count && core->negated > 0 && !run->found.done; i++) {
        const tm_name_index *index = core->names[message->names[i]].veto;
        if (index != NULL) {
            tm_name_index_match(index, &core->constraints, core->text, &message->attributes[i], &run->found);
        }
    }
    tm_found_flush(&run->found);
}

static void find_matches(matching *run, const tm_named_message *message) {
    const tm_counting *core = run->core;
    run->found.take = run->answer->grouping != NULL ? take_grouped : take_single;
    tm_found_add(&run->found, TM_TRUE_CONSTRAINT);
    for (size_t i = 0; i < message->count && !run->found.done; i++) {
        const tm_name_index *index = core->names[message->names[i]].plain;
        if (index != NULL) {
            tm_name_index_match(index, &core->constraints, core->text, &message->attributes[i], &run->found);
        }
    }
    if (!run->found.done) {
        tm_found_flush(&run->found);
    }
}

void tm_counting_match(tm_counting *core, const tm_named_message *message, tm_excluded excluded, tm_answer *answer) {
    if (core->live == 0) {
        return;
    }
    matching run; /* its arrays are written before they are read: not cleared */
    run.core = core;
    run.answer = answer;
    run.gathered = 0;
    run.found.done = false;
    run.found.work = answer->work;
    run.found.count = 0;
    tm_answer_mark_others(answer, excluded.bits, excluded.words);
    if (tm_answer_is_full(answer)) {
        return;
    }
    next_message(core);
    run.found.message = core->message;
    find_vetoes(&run, message);
    find_matches(&run, message);
    answer->work = run.found.work;
}
