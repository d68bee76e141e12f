/* counting_match.c - one message against all filters. Law: see counting.h.
 *
 * Most time is spent on cache misses: a constraint, its list of filters, each filter's seat. All three are prefetched,
 * which is why constraints are reported in batches and filters are gathered before they are counted.
 */
#include "engines/papers/counting_match.h"

/* The distance of each prefetch: long enough for a miss, short enough to stay in the cache. */
#define CONSTRAINTS_AHEAD 12
#define LISTS_AHEAD 6
#define FILTERS_GATHERED 64

#define MESSAGES_MAX 0xffffffu /* a seat has 24 bits for the number of the message it was last counted in */

typedef struct matching {
    tm_found found; /* first: a tm_found is cast back to this */
    tm_counting *core;
    tm_answer *answer;
    uint32_t gathered; /* filters whose seats are being prefetched */
    uint32_t filters[FILTERS_GATHERED];
} matching;

/* ---- counting ---- */

/* The use of gathered filters; a constant at every call, so that each has a loop of its own. */
typedef struct purpose {
    bool is_veto;
    bool grouped;
    tm_counting_ways ways;
} purpose;

static inline uint32_t *state_of(matching *run, uint32_t filter, tm_counter_kind kind) {
    switch (kind) {
    case TM_COUNTERS_HASH:
        return tm_counter_of(&run->core->counters, filter, run->found.message);
    case TM_COUNTERS_TREE:
        return tm_counter_tree_of(&run->core->tree, filter, run->found.message);
    default:
        return &run->core->filters.seats[filter].state;
    }
}

/* Count a constraint of a filter; returns whether there was a count. The papers first test whether the interface is
 * done, which saves a lookup in a map of counters. With flat counters that test costs more than it saves, as counter
 * and interface are one word apart, so it is made only for the few full counts (docs/design/engines.md has the
 * figures). */
static inline bool count_one(matching *run, uint32_t filter, purpose purpose) {
    const tm_seat *seat = &run->core->filters.seats[filter];
    if (purpose.ways.circuit == TM_CIRCUIT_EACH &&
        !tm_answer_open_marked(run->answer, seat->interface, purpose.grouped)) {
        return false;
    }
    uint32_t *counter = state_of(run, filter, purpose.ways.counters);
    uint32_t state = (*counter >> 8 == run->found.message ? *counter : run->found.message << 8) + 1;
    *counter = state;
    if ((state & 0xff) == seat->required && (purpose.ways.circuit == TM_CIRCUIT_EACH ||
                                             tm_answer_open_marked(run->answer, seat->interface, purpose.grouped))) {
        tm_answer_emit_marked(run->answer, seat->interface, filter, purpose.grouped);
        if (purpose.ways.circuit != TM_CIRCUIT_OFF) {
            run->found.done |= tm_answer_is_full(run->answer);
        }
    }
    return true;
}

static inline void count_gathered(matching *run, purpose purpose) {
    uint32_t count = run->gathered;
    uint32_t updates = 0;
    uint32_t at = 0;
    run->gathered = 0;
    for (; at < count && !run->found.done; at++) {
        updates += count_one(run, run->filters[at], purpose);
    }
    run->core->updates += updates;
    run->core->skipped += at - updates;
}

static inline void veto_gathered(matching *run, purpose purpose) {
    for (uint32_t i = 0; i < run->gathered; i++) {
        *state_of(run, run->filters[i], purpose.ways.counters) = run->found.message << 8 | TM_COUNT_VETOED;
    }
    run->gathered = 0;
}

static inline void use_gathered(matching *run, purpose purpose) {
    if (purpose.is_veto) {
        veto_gathered(run, purpose);
    } else {
        count_gathered(run, purpose);
    }
}

/* Prefetch what constraint i of the batch will need: itself, then its list. */
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

/* A loop for each kind of counting, with a grouping and without, and for vetoes with each kind of counters. */
#define TAKE(name, circuit, counters)                                                                                  \
    static void take_##name(tm_found *found) {                                                                         \
        take((matching *)found, (purpose){.ways = {circuit, counters}});                                               \
    }                                                                                                                  \
    static void take_grouped_##name(tm_found *found) {                                                                 \
        take((matching *)found, (purpose){.grouped = true, .ways = {circuit, counters}});                              \
    }
TAKE(off_flat, TM_CIRCUIT_OFF, TM_COUNTERS_FLAT)
TAKE(full_flat, TM_CIRCUIT_AT_FULL, TM_COUNTERS_FLAT)
TAKE(each_flat, TM_CIRCUIT_EACH, TM_COUNTERS_FLAT)
TAKE(off_hash, TM_CIRCUIT_OFF, TM_COUNTERS_HASH)
TAKE(full_hash, TM_CIRCUIT_AT_FULL, TM_COUNTERS_HASH)
TAKE(each_hash, TM_CIRCUIT_EACH, TM_COUNTERS_HASH)
TAKE(off_tree, TM_CIRCUIT_OFF, TM_COUNTERS_TREE)
TAKE(full_tree, TM_CIRCUIT_AT_FULL, TM_COUNTERS_TREE)
TAKE(each_tree, TM_CIRCUIT_EACH, TM_COUNTERS_TREE)

static void take_vetoes_flat(tm_found *found) {
    take((matching *)found, (purpose){.is_veto = true, .ways = {.counters = TM_COUNTERS_FLAT}});
}

static void take_vetoes_hash(tm_found *found) {
    take((matching *)found, (purpose){.is_veto = true, .ways = {.counters = TM_COUNTERS_HASH}});
}

static void take_vetoes_tree(tm_found *found) {
    take((matching *)found, (purpose){.is_veto = true, .ways = {.counters = TM_COUNTERS_TREE}});
}

typedef void (*taker)(tm_found *found);

static taker taker_of(tm_counting_ways ways, bool grouped) {
    static const taker TAKERS[3][3][2] = {
        [TM_COUNTERS_FLAT] = {[TM_CIRCUIT_OFF] = {take_off_flat, take_grouped_off_flat},
                              [TM_CIRCUIT_AT_FULL] = {take_full_flat, take_grouped_full_flat},
                              [TM_CIRCUIT_EACH] = {take_each_flat, take_grouped_each_flat}},
        [TM_COUNTERS_HASH] = {[TM_CIRCUIT_OFF] = {take_off_hash, take_grouped_off_hash},
                              [TM_CIRCUIT_AT_FULL] = {take_full_hash, take_grouped_full_hash},
                              [TM_CIRCUIT_EACH] = {take_each_hash, take_grouped_each_hash}},
        [TM_COUNTERS_TREE] = {[TM_CIRCUIT_OFF] = {take_off_tree, take_grouped_off_tree},
                              [TM_CIRCUIT_AT_FULL] = {take_full_tree, take_grouped_full_tree},
                              [TM_CIRCUIT_EACH] = {take_each_tree, take_grouped_each_tree}},
    };
    return TAKERS[ways.counters][ways.circuit][grouped];
}

/* ---- the match ---- */

/* Begin a message. Seats and constraints store message numbers, which are cleared when numbers run out. */
static void next_message(tm_counting *core) {
    if (core->message++ < MESSAGES_MAX) {
        return;
    }
    for (uint32_t i = 0; i < core->filters.seat_capacity; i++) {
        core->filters.seats[i].state = 0;
    }
    tm_counters_forget(&core->counters);
    tm_counter_tree_forget(&core->tree);
    for (uint32_t i = 0; i < core->constraints.count; i++) {
        core->constraints.held[i].stamp = 0;
    }
    core->message = 1;
}

static void find_vetoes(matching *run, const tm_named_message *message) {
    const tm_counting *core = run->core;
    static const taker VETOERS[3] = {
        [TM_COUNTERS_FLAT] = take_vetoes_flat,
        [TM_COUNTERS_HASH] = take_vetoes_hash,
        [TM_COUNTERS_TREE] = take_vetoes_tree,
    };
    run->found.take = VETOERS[core->ways.counters];
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
    run->found.take = taker_of(core->ways, run->answer->grouping != NULL);
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
    matching run; /* not cleared: its arrays are written before they are read */
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
