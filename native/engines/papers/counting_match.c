/* counting_match.c - one message against all filters. Law: see counting.h.
 *
 * Time goes into cache misses: a constraint, its list of filters, each filter's seat. All three are fetched ahead,
 * which is why constraints come in batches and filters are gathered before they are counted.
 */
#include <string.h>

#include "base/grow.h"
#include "engines/papers/counting.h"

/* How far ahead of its use each thing is fetched: long enough for a miss, short enough to stay in the cache. */
#define CONSTRAINTS_AHEAD 12
#define LISTS_AHEAD 6
#define FILTERS_GATHERED 64

#define MESSAGES_MAX 0xffffffu /* a seat has 24 bits for the number of the message it was last counted in */

/* Up to here it pays to find out which links have filters at all, so that a match can stop once those are done. */
#define GROUPING_COUNTED_MAX 1024

typedef struct matching {
    tm_found found; /* first: a tm_found is cast back to this */
    tm_counting *core;
    const tm_query *query;
    tm_hits *hits;
    uint64_t *ignored;
    uint64_t left; /* links (or interfaces, without grouping) that may still match */
    bool grouped;
    uint32_t gathered; /* filters whose seats are being fetched */
    uint32_t filters[FILTERS_GATHERED];
} matching;

static inline bool bit_at(const uint64_t *words, uint32_t index) {
    return words[index / 64] >> index % 64 & 1;
}

/* ---- reporting ----------------------------------------------------------------------------------------------------
 */

static void report(const matching *run, uint32_t link, uint32_t filter) {
    tm_hits *hits = run->hits;
    if (hits->bits != NULL) {
        hits->bits[link / 64] |= (uint64_t)1 << link % 64;
        return;
    }
    if (hits->count < hits->capacity) {
        hits->links[hits->count] = link;
        if (hits->handles != NULL) {
            hits->handles[hits->count] = filter;
        }
    }
    hits->count++;
}

static void satisfy(matching *run, uint32_t interface, uint32_t filter) {
    uint32_t link = run->grouped ? run->query->grouping[interface] : interface;
    report(run, link, filter);
    if (run->query->mode == TM_MATCH_ALL) {
        return; /* a client is told of every filter */
    }
    uint64_t *done = run->grouped ? run->core->links_done : run->ignored;
    done[link / 64] |= (uint64_t)1 << link % 64;
    run->left--;
    run->found.done = run->left == 0;
}

/* ---- counting -----------------------------------------------------------------------------------------------------
 */

static inline bool is_done(const matching *run, uint32_t interface) {
    const tm_query *query = run->query;
    if (interface >= query->grouping_count) {
        return true;
    }
    uint32_t link = query->grouping[interface];
    return link >= query->link_count || bit_at(run->core->links_done, link);
}

/* The papers ask first whether the interface is done, to be spared a look into a map of counters. Here counter and
 * interface are one word apart, and the question would cost a mispredicted branch for each filter, so it waits for the
 * few counts that are full: measured at a million filters, 20 interfaces, twice as fast. */
static inline void count_one(matching *run, uint32_t filter, bool grouped) {
    tm_seat *seat = &run->core->filters.seats[filter];
    uint32_t state = (seat->state >> 8 == run->found.message ? seat->state : run->found.message << 8) + 1;
    seat->state = state;
    if ((state & 0xff) == seat->required && !bit_at(run->ignored, seat->interface) &&
        !(grouped && is_done(run, seat->interface))) {
        satisfy(run, seat->interface, filter);
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
    for (uint32_t i = 0; i < run->found.count && !run->found.done; i++) {
        fetch_ahead(run, i);
        const tm_held *held = &run->core->constraints.held[run->found.batch[i]];
        tm_found_spend(&run->found, 1 + held->count);
        gather(run, held, purpose);
    }
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

/* ---- who is a candidate -------------------------------------------------------------------------------------------
 */

/* Word `index` of the candidates: zero past link_count. */
static uint64_t candidate_word(const tm_query *query, uint32_t index) {
    uint64_t first = (uint64_t)index * 64;
    if (first >= query->link_count) {
        return 0;
    }
    uint64_t word = query->candidates != NULL ? query->candidates[index] : UINT64_MAX;
    uint64_t bits = query->link_count - first;
    return bits < 64 ? word & (((uint64_t)1 << bits) - 1) : word;
}

static uint32_t words_for(uint32_t bits) {
    return bits / 64 + (bits % 64 > 0);
}

static void ignore_all_but_candidates(matching *run) {
    const tm_interfaces *all = &run->core->interfaces;
    bool only_clients = run->query->mode == TM_MATCH_ALL;
    for (uint32_t i = 0; i < all->ignored_capacity; i++) {
        uint64_t word = all->occupied[i] & candidate_word(run->query, i);
        run->ignored[i] = ~(only_clients ? word & all->clients[i] : word);
    }
}

static uint64_t count_left(const matching *run) {
    uint64_t left = 0;
    for (uint32_t i = 0; i < run->core->interfaces.ignored_capacity; i++) {
        left += (uint64_t)__builtin_popcountll(~run->ignored[i]);
    }
    return left;
}

/* Every link done, but for the candidates that group an interface with filters. */
static void open_links_in_use(matching *run) {
    const tm_query *query = run->query;
    const tm_interfaces *all = &run->core->interfaces;
    uint64_t *done = run->core->links_done;
    memset(done, 0xff, words_for(query->link_count) * sizeof *done);
    for (uint32_t i = 0; i < query->grouping_count && i / 64 < all->occupied_capacity; i++) {
        uint32_t link = query->grouping[i];
        if (bit_at(all->occupied, i) && link < query->link_count && bit_at(done, link) &&
            candidate_word(query, link / 64) >> link % 64 & 1) {
            done[link / 64] &= ~((uint64_t)1 << link % 64);
            run->left++;
        }
    }
}

/* Every candidate open; one without filters keeps `left` above zero, which only costs the early exit. */
static void open_candidates(matching *run) {
    uint64_t *done = run->core->links_done;
    for (uint32_t i = 0; i < words_for(run->query->link_count); i++) {
        uint64_t word = candidate_word(run->query, i);
        done[i] = ~word;
        run->left += (uint64_t)__builtin_popcountll(word);
    }
}

/* The one array that a match may make longer: how many links there are is known only by the query. */
static bool reserve_links(tm_counting *core, uint32_t link_count) {
    return tm_grow(core->memory, TM_HOT, &core->links_done, sizeof *core->links_done, &core->link_capacity,
                   words_for(link_count));
}

static void open_links(matching *run) {
    memset(run->ignored, 0, run->core->interfaces.ignored_capacity * sizeof *run->ignored);
    if (run->query->grouping_count <= GROUPING_COUNTED_MAX) {
        open_links_in_use(run);
    } else {
        open_candidates(run);
    }
}

/* ---- the match ----------------------------------------------------------------------------------------------------
 */

/* Seats and constraints remember the number of a message; when numbers run out, they must forget. */
static void next_message(tm_counting *core) {
    if (core->message++ < MESSAGES_MAX) {
        return;
    }
    for (uint32_t i = 0; i < core->filters.count; i++) {
        if (core->filters.references[i] != NULL) {
            core->filters.seats[i].state = 0;
        }
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
    run->found.take = run->grouped ? take_grouped : take_single;
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

int tm_counting_match(tm_counting *core, const tm_named_message *message, tm_exclude exclude, const void *owner,
                      const tm_query *query, tm_hits *hits) {
    matching run = {.core = core, .query = query, .hits = hits, .ignored = core->interfaces.ignored};
    run.grouped = query->grouping != NULL && query->mode != TM_MATCH_ALL;
    run.found.work = (tm_work){.steps = message->count, .steps_max = hits->steps};
    hits->count = 0;
    hits->steps = 0;
    if (hits->bits != NULL) {
        memset(hits->bits, 0, words_for(query->link_count) * sizeof *hits->bits);
    }
    if (core->filters.live == 0 || query->link_count == 0) {
        return TM_OK;
    }
    if (run.grouped && !reserve_links(core, query->link_count)) {
        return TM_NO_MEMORY;
    }
    next_message(core);
    run.found.message = core->message;
    run.grouped ? open_links(&run) : ignore_all_but_candidates(&run);
    if (exclude != NULL) {
        exclude(owner, message, run.ignored);
    }
    run.left = run.grouped ? run.left : count_left(&run);
    if (run.left > 0) {
        find_vetoes(&run, message);
        find_matches(&run, message);
    }
    hits->steps = run.found.work.steps;
    if (tm_work_is_over(&run.found.work)) {
        hits->count = 0;
        return TM_TOO_COSTLY;
    }
    return hits->bits == NULL && hits->count > hits->capacity ? TM_TOO_MANY : TM_OK;
}
