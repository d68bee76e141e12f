/* match.c - one message against the table.
 *
 * Law: reads what add and remove have built, changes only scratch, memos and `hits`, allocates nothing, and leaves the
 * scratch as clean as it found it. Cheap and productive steps come first, and the match ends as soon as every interface
 * that is wanted has matched:
 *
 *     1. numbers    name -> key -> cells: one search and one OR an attribute
 *     2. strings    as step 1, with labels
 *     3. values     spans of runs, and everything under an equality or pattern: singles now, entries are kept for later
 *     4. entries    of scans, of the buckets found and of pairs of names; then those that are always candidates
 */
#include "engines/onepath/matching/match.h"

#include "engines/onepath/matching/behind.h"
#include "engines/onepath/matching/box_matching.h"
#include "engines/onepath/matching/interval_matching.h"

#define NUMBERS_AT_ONCE 2U
#define NAMES_MANY 24U /* names of a message; with fewer, one test of each is cheaper than one of all together */
#define FAR_FILTERS_MIN                                                                                                \
    4000U /* in runs, buckets and lists; below, all memory is near, and a prefetch costs more than it hides */
#define TOGETHER_FILTERS_MIN 50000U /* below, memory is near, and a list of steps costs more than it hides */

/* ---- cells ---- */

/* Emit the filters of a key that hold, not only their interfaces. */
static void see_spans(matching *m, const onepath_cells *cells, int64_t value, const onepath_strings *strings) {
    if (m->answer->form != TM_ANSWER_WHICH || !tm_work_spend(&m->answer->work, cells->spans->count)) {
        return;
    }
    for (uint32_t at = 0; at < cells->spans->count; at++) {
        const onepath_span *span = &cells->spans->rows[at];
        if (onepath_span_holds(*span, value, strings)) {
            emit_if_open(m, span->interface, span->handle);
        }
    }
}

static void emit_new_bits(matching *m, uint64_t bits, uint32_t word) {
    for (; bits != 0; bits &= bits - 1) {
        emit_if_open(m, word * 64 + (uint32_t)__builtin_ctzll(bits), 0);
    }
}

static inline void collect(matching *m, const uint64_t *cell, uint32_t words) {
    for (uint32_t word = 0; word < words; word++) {
        uint64_t fresh = cell[word] & ~m->matched[word];
        m->matched[word] |= fresh;
        if (!m->plain) {
            emit_new_bits(m, fresh, word);
        }
    }
}

/* Match the cells of a label; `order` has the constants of the label: strings, or wide numbers. */
static void see_label(matching *m, const onepath_cells *cells, int64_t label, const onepath_strings *order) {
    if (m->wants_handles) {
        see_spans(m, cells, label, order);
        return;
    }
    collect(m, onepath_cells_of_label(cells, label, order), cells->words);
}

/* ---- the steps ---- */

/* Match ranges of constants without a code by the label of the value, which label_numbers has found. */
static void see_wide(matching *m, uint32_t attribute, const onepath_key *wide) {
    int64_t label = m->views[attribute].label;
    if (onepath_cells_exist(&wide->cells)) {
        see_label(m, &wide->cells, label, &m->engine->numbers);
    }
    emit_runs(m, wide, label, &m->engine->numbers);
    if (wide->intervals != NULL) {
        emit_intervals(m, wide->intervals, label, &m->engine->numbers);
    }
}

static void see_number(matching *m, const known *at) {
    const tm_attribute *value = &m->attributes[at->attribute];
    bool is_real = value->kind == TM_KIND_FLOAT;
    if (at->key->equal_bits == 0) {
        ; /* no filter has an equality */
    } else if (is_real || !onepath_has_code(value->integer)) {
        uint32_t operand = onepath_wide_operand(&m->engine->buckets.key, is_real, value->integer, value->real);
        if (at->key->equal_bits & onepath_operand_bit(operand)) {
            see_bucket(m, onepath_bucket_key(ONEPATH_BY_WIDE, at->name, operand));
        }
    } else if (at->key->equal_bits & onepath_operand_bit((uint32_t)at->code)) {
        see_bucket(m, onepath_bucket_key(ONEPATH_BY_NUMBER, at->name, (uint32_t)at->code));
    }
    see_runs(m, at->key, at->code, NULL);
    if (at->key->intervals != NULL) {
        emit_intervals(m, at->key->intervals, at->code, NULL);
    }
    if (at->key->wide != NULL &&
        m->engine->numbers.sorted.count > 0) { /* the condition under which label_numbers finds labels */
        see_wide(m, at->attribute, at->key->wide);
    }
}

static void see_string(matching *m, const known *at) {
    const onepath_view *view = &m->views[at->attribute];
    if (view->constant != TM_NO_STRING && (at->key->equal_bits & onepath_operand_bit(view->constant))) {
        see_bucket(m, onepath_bucket_key(ONEPATH_BY_STRING, at->name, view->constant));
    }
    if (at->key->patterns > 0) {
        see_patterns(m, at);
    }
    see_runs(m, at->key, view->label, &m->engine->strings);
    if (at->key->intervals != NULL) {
        emit_intervals(m, at->key->intervals, view->label, &m->engine->strings);
    }
}

/* Add an attribute whose name the table knows to `known`; NULL if the table does not know it. */
static inline known *find_key(matching *m, uint32_t i, unsigned kind, int32_t code) {
    const tm_engine *engine = m->engine;
    const tm_attribute *attribute = &m->attributes[i];
    uint64_t *memo = m->answer->memo != NULL ? &m->answer->memo[i] : NULL;
    uint32_t name = onepath_names_recall(&engine->names, memo, attribute->name, attribute->name_length);
    if (name == TM_NO_NAME) {
        return NULL;
    }
    const onepath_key *key = engine->names.records[name].keys[kind];
    __builtin_prefetch(key);                                              /* two cache lines */
    __builtin_prefetch((const void *)((uintptr_t)key + sizeof *key - 1)); /* key may be NULL: no pointer arithmetic */
    known *at = &m->known[m->known_count++];
    *at = (known){key, name, i, code, kind};
    return at;
}

/* Return the attributes whose name the table may know, a bit each; a memo excludes names known to be unknown. */
static uint64_t worth_a_look(const matching *m, uint32_t count) {
    const uint64_t *memo = m->answer->memo;
    if (memo == NULL) {
        return count == TM_ATTRIBUTES_MAX ? UINT64_MAX : (UINT64_C(1) << count) - 1;
    }
    uint64_t unknown = onepath_names_memo(&m->engine->names, TM_NO_NAME);
    uint64_t worth = 0;
    for (uint32_t i = 0; i < count; i++) {
        worth |= (uint64_t)(memo[i] != unknown) << i;
    }
    return worth;
}

/* Attributes by the kind of their value, a bit each. */
typedef struct by_kind {
    uint64_t numbers;
    uint64_t strings;
} by_kind;

/* Sort attributes without a branch that depends on a kind. */
static inline by_kind sort_by_kind(const matching *m, uint32_t count) {
    by_kind found = {0, 0};
    for (uint32_t i = 0; i < count; i++) {
        uint64_t is_string = m->attributes[i].kind == TM_KIND_STRING;
        uint64_t is_number = (unsigned)m->attributes[i].kind - TM_KIND_INTEGER <= TM_KIND_FLOAT - TM_KIND_INTEGER;
        found.numbers |= is_number << i;
        found.strings |= is_string << i;
    }
    return found;
}

static int32_t code_of(const tm_attribute *number) {
    return number->kind == TM_KIND_INTEGER ? onepath_code_of_integer(number->integer)
                                           : onepath_code_of_real(number->real);
}

/* Match the cells of numbers, from known[first] on; true if the answer is full. */
static bool see_cells(matching *m, uint32_t first) {
    for (uint32_t i = first; i < m->known_count; i++) {
        const onepath_key *key = m->known[i].key;
        if (key == NULL || !onepath_cells_exist(&key->cells)) {
            continue;
        }
        if (m->wants_handles) {
            see_spans(m, &key->cells, m->known[i].code, NULL);
        } else {
            collect(m, onepath_cells_of_code(&key->cells, m->known[i].code), key->cells.words);
        }
        if (is_full(m)) {
            return true;
        }
    }
    return false;
}

/* Step 1: match numbers, which satisfy most tables alone. Several names are looked up before their cells, so that their
 * cache misses overlap. Inline, as most messages need no other step. true if the answer is full. */
static inline __attribute__((always_inline)) bool see_numbers(matching *m, uint64_t numbers) {
    while (numbers != 0) {
        uint32_t first = m->known_count;
        for (uint32_t n = 0; n < NUMBERS_AT_ONCE && numbers != 0; n++, numbers &= numbers - 1) {
            uint32_t i = (uint32_t)__builtin_ctzll(numbers);
            find_key(m, i, ONEPATH_NUMBER, code_of(&m->attributes[i]));
        }
        if (see_cells(m, first)) {
            return true;
        }
    }
    m->parts[ONEPATH_NUMBER] = (part){0, m->known_count};
    return false;
}

static void view_string(matching *m, uint32_t attribute) {
    const tm_attribute *value = &m->attributes[attribute];
    tm_engine *engine = m->engine;
    onepath_view *view = &m->views[attribute];
    onepath_digests_view(&engine->digests, &engine->strings, &engine->patterns, value->string, value->length,
                         engine->pattern_scratch + m->scratch_used, onepath_message_patterns(engine) - m->scratch_used,
                         view, &m->answer->work);
    m->scratch_used += view->patterns == NULL ? 0 : view->pattern_count;
}

/* Step 2: look up the other names and the constants and patterns of their values, and match the cells of strings; true
 * if the answer is full. */
static inline __attribute__((always_inline)) bool see_strings(matching *m, uint64_t strings, uint64_t booleans) {
    part *seen = &m->parts[ONEPATH_STRING];
    seen->first = m->known_count;
    for (; strings != 0; strings &= strings - 1) {
        known *at = find_key(m, (uint32_t)__builtin_ctzll(strings), ONEPATH_STRING, 0);
        if (at == NULL) {
            continue;
        }
        view_string(m, at->attribute);
        at->code = (int32_t)m->views[at->attribute].constant;
        if (at->key != NULL && onepath_cells_exist(&at->key->cells)) {
            see_label(m, &at->key->cells, m->views[at->attribute].label, &m->engine->strings);
            if (is_full(m)) {
                return true;
            }
        }
    }
    seen->end = m->known_count;
    for (; booleans != 0; booleans &= booleans - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(booleans);
        find_key(m, i, ONEPATH_BOOLEAN, (int32_t)m->attributes[i].integer);
    }
    m->parts[ONEPATH_BOOLEAN] = (part){seen->end, m->known_count};
    return is_full(m);
}

/* Write the value of each known name to engine->state, for the tests of entries. */
static void note_states(matching *m) {
    for (uint32_t i = 0; i < m->known_count; i++) {
        const known *at = &m->known[i];
        m->engine->state[at->name] = state_of(at->kind, at->attribute, at->code);
    }
    m->noted_count = m->known_count;
}

/* Count the names and values of the message, for later choices of access paths. */
static __attribute__((noinline)) void sample(const matching *m) {
    onepath_sample *seen = &m->engine->sample;
    const tm_hash_key *key = &m->engine->buckets.key;
    onepath_sample_begin(seen);
    for (uint32_t i = 0; i < m->known_count; i++) {
        const known *at = &m->known[i];
        onepath_sample_note(seen, onepath_bucket_key(ONEPATH_BY_NAME, at->name, at->kind), key);
        if (at->kind != ONEPATH_STRING) {
            onepath_tag tag = at->kind == ONEPATH_BOOLEAN ? ONEPATH_BY_BOOLEAN : ONEPATH_BY_NUMBER;
            onepath_sample_note(seen, onepath_bucket_key(tag, at->name, (uint32_t)at->code), key);
            continue;
        }
        const onepath_view *view = &m->views[at->attribute];
        if (view->constant != TM_NO_STRING) {
            onepath_sample_note(seen, onepath_bucket_key(ONEPATH_BY_STRING, at->name, view->constant), key);
        }
        for (uint32_t p = 0; view->patterns != NULL && p < view->pattern_count && p < ONEPATH_SAMPLE_PATTERNS_MAX;
             p++) {
            onepath_sample_note(seen, onepath_bucket_key(ONEPATH_BY_PATTERN, at->name, view->patterns[p]), key);
        }
    }
}

/* Find the labels of all numbers that have ranges of constants without a code. The searches follow each other directly,
 * so that a processor overlaps them, which it cannot do where each is followed by the lookup of its label. */
static void label_numbers(matching *m) {
    for (uint32_t i = m->parts[ONEPATH_NUMBER].first; i < m->parts[ONEPATH_NUMBER].end; i++) {
        if (m->known[i].key != NULL && m->known[i].key->wide != NULL) {
            wide_label(m, m->known[i].attribute);
        }
    }
}

/* Step 3: match all filters under a value. */
static void see_values(matching *m) {
    if (m->engine->numbers.sorted.count > 0) {
        label_numbers(m);
    }
    for (uint32_t i = m->parts[ONEPATH_NUMBER].first; i < m->parts[ONEPATH_NUMBER].end; i++) {
        if (m->known[i].key != NULL) {
            see_number(m, &m->known[i]);
        }
    }
    for (uint32_t i = m->parts[ONEPATH_STRING].first; i < m->parts[ONEPATH_STRING].end; i++) {
        if (m->known[i].key != NULL) {
            see_string(m, &m->known[i]);
        }
    }
    for (uint32_t i = m->parts[ONEPATH_BOOLEAN].first; i < m->parts[ONEPATH_BOOLEAN].end; i++) {
        const known *at = &m->known[i];
        if (at->key != NULL && at->key->equalities > 0) {
            see_bucket(m, onepath_bucket_key(ONEPATH_BY_BOOLEAN, at->name, (uint32_t)at->code));
        }
    }
}

/* Find the spans of all values in the runs of their keys. */
static void find_all_spans(matching *m) {
    const part *numbers = &m->parts[ONEPATH_NUMBER];
    const part *strings = &m->parts[ONEPATH_STRING];
    for (uint32_t i = numbers->first; i < numbers->end; i++) {
        const known *at = &m->known[i];
        if (at->key != NULL) {
            find_spans(m, at->key, at->code, NULL);
        }
    }
    for (uint32_t i = strings->first; i < strings->end; i++) {
        const known *at = &m->known[i];
        if (at->key != NULL) {
            find_spans(m, at->key, m->views[at->attribute].label, &m->engine->strings);
        }
    }
}

static void see_scans(matching *m) {
    for (uint32_t i = 0; i < m->known_count; i++) {
        const onepath_key *any = m->engine->names.records[m->known[i].name].keys[ONEPATH_ANY];
        const onepath_key *keys[2] = {m->known[i].key, any};
        for (unsigned k = 0; k < 2; k++) {
            if (keys[k] != NULL && tm_work_spend(&m->answer->work, keys[k]->scan.count)) {
                try_entries(m, keys[k]->scan.entries, keys[k]->scan.count);
            }
        }
    }
}

/* The names of a message by their bits as partners: the bits present, the last name of each bit, and for each name the
 * previous one with that bit, or itself. */
typedef struct company {
    uint64_t present[ONEPATH_PARTNER_WORDS];
    uint8_t last[64 * ONEPATH_PARTNER_WORDS]; /* of bits that are present */
    uint8_t before[TM_ATTRIBUTES_MAX];
    bool is_known;
} company;

static void meet(company *names, const uint16_t *bits, uint32_t count) {
    memset(names->present, 0, sizeof names->present);
    for (uint32_t i = 0; i < count; i++) {
        names->before[i] = tm_bit_at(names->present, bits[i]) ? names->last[bits[i]] : (uint8_t)i;
        names->last[bits[i]] = (uint8_t)i;
        tm_bit_set(names->present, bits[i]);
    }
    names->is_known = true;
}

/* Return the names that a key may have pairs with, by a test of each name: bit i stands for known[i]. */
static inline uint64_t company_in_turn(const onepath_key *key, const uint16_t *bits, uint32_t count) {
    uint64_t met = 0;
    if (key->partners != NULL) {
        for (uint32_t i = 0; i < count; i++) {
            met |= (uint64_t)tm_bit_at(key->partners, bits[i]) << i;
        }
    } else {
        for (uint32_t i = 0; i < count; i++) {
            met |= (key->partner_bits >> onepath_coarse_of(bits[i]) & 1) << i;
        }
    }
    return met;
}

/* Return the names that a key with many partners may have pairs with, by a test of all names together: a message may
 * have 64 names, and each of them a key. */
static inline uint64_t company_together(const onepath_key *key, const company *names) {
    uint64_t met = 0;
    for (uint32_t word = 0; word < ONEPATH_PARTNER_WORDS; word++) {
        uint64_t both = key->partners[word] & names->present[word];
        for (; both != 0; both &= both - 1) {
            uint32_t i = names->last[word * 64 + (uint32_t)__builtin_ctzll(both)];
            for (met |= UINT64_C(1) << i; names->before[i] != i; met |= UINT64_C(1) << i) {
                i = names->before[i];
            }
        }
    }
    return met;
}

/* Probe the buckets of pairs. A pair is under its rarer name, whose partner bits select the other names to probe. */
static inline __attribute__((always_inline)) void see_pairs(matching *m) {
    uint16_t bits[TM_ATTRIBUTES_MAX];
    uint64_t coarse = 0;
    company names;
    names.is_known = false;
    for (uint32_t i = 0; i < m->known_count; i++) {
        bits[i] = (uint16_t)onepath_partner_bit(m->known[i].name, m->known[i].kind);
        coarse |= onepath_coarse_bit(bits[i]);
    }
    for (uint32_t home = 0; home < m->known_count; home++) {
        const known *at = &m->known[home];
        if (at->key == NULL || !(at->key->partner_bits & coarse)) {
            continue;
        }
        bool together = at->key->partners != NULL && m->known_count >= NAMES_MANY;
        if (together && !names.is_known) {
            meet(&names, bits, m->known_count);
        }
        uint64_t met = together ? company_together(at->key, &names) : company_in_turn(at->key, bits, m->known_count);
        met &= ~(UINT64_C(1) << home);
        for (; met != 0; met &= met - 1) {
            uint32_t other = (uint32_t)__builtin_ctzll(met);
            const known *partner = &m->known[other];
            see_bucket_of(m, onepath_pair_key(at->name, at->kind, partner->name, partner->kind), home, other);
        }
    }
}

/* Prefetch the middle of the bounds of a run's middle chunk, where a search begins. */
static inline void ask_for_run(const onepath_run *run) {
    if (run != NULL && run->count > 0) {
        const onepath_chunk *chunk = &run->chunks[run->count / 2];
        __builtin_prefetch(chunk->bounds + chunk->count / 2);
        __builtin_prefetch(chunk->interfaces);
    }
}

/* Prefetch what the values are looked up in, level by level, before any of it is read. */
static void ask_for_runs(const matching *m) {
    for (uint32_t i = 0; i < m->known_count; i++) {
        if (m->known[i].key != NULL) {
            __builtin_prefetch(m->known[i].key->at_most);
            __builtin_prefetch(m->known[i].key->at_least);
        }
    }
}
static void ask_for_chunks(const matching *m) {
    for (uint32_t i = 0; i < m->known_count; i++) {
        const onepath_key *key = m->known[i].key;
        if (key != NULL && key->at_most != NULL) {
            __builtin_prefetch(key->at_most->chunks);
        }
        if (key != NULL && key->at_least != NULL) {
            __builtin_prefetch(key->at_least->chunks);
        }
    }
}
static void ask_for_bounds(const matching *m) {
    for (uint32_t i = 0; i < m->known_count; i++) {
        if (m->known[i].key != NULL) {
            ask_for_run(m->known[i].key->at_most);
            ask_for_run(m->known[i].key->at_least);
        }
    }
}

/* Steps 3 and 4 of a large table whose results are appended to a list, so that no result ends them early: all probes
 * and all runs are processed together, and the cache misses of one overlap with the work on the other. */
static __attribute__((noinline)) void see_together(matching *m) {
    m->at_once = true;
    ask_for_runs(m);
    see_values(m);
    see_pairs(m);
    ask_for_chunks(m);
    find_slots(m);
    ask_for_bounds(m);
    ask_for_blocks(m);
    find_all_spans(m);
    look_at_slots(m);
    look_behind(m);
    see_spans_found(m);
    if (m->engine->scanned > 0) {
        see_scans(m);
    }
    if (m->engine->families.boxes > 0) {
        see_boxes(m);
    }
}

/* Steps 3 and 4 in turn, as long as the answer is not full. */
static void see_in_turn(matching *m) {
    if (m->engine->listed > FAR_FILTERS_MIN) {
        ask_for_runs(m);
        ask_for_chunks(m);
        ask_for_bounds(m);
    }
    see_values(m);
    look_at_probes(m);
    look_behind(m);
    if (m->engine->scanned > 0) {
        see_scans(m);
    }
    if (m->engine->pair_filters > 0 && !is_full(m)) {
        see_pairs(m);
        look_at_probes(m);
    }
    if (m->engine->families.boxes > 0 && !is_full(m)) {
        see_boxes(m);
    }
    for (uint32_t i = 0; i < m->slot_count && !is_full(m) && !tm_work_is_over(&m->answer->work); i++) {
        try_bucket(m, &m->slots[i]);
    }
}

static void see_everything(matching *m, uint32_t count) {
    uint64_t worth = worth_a_look(m, count);
    by_kind kinds = sort_by_kind(m, count);
    uint64_t numbers = worth & kinds.numbers;
    if (see_numbers(m, numbers)) {
        return;
    }
    uint64_t strings = m->engine->string_tests > 0 ? worth & kinds.strings : 0;
    if (see_strings(m, strings, worth & ~kinds.numbers & ~kinds.strings)) {
        return;
    }
    note_states(m);
    if (--m->engine->sample.until == 0) {
        sample(m);
    }
    if (m->answer->direct && m->engine->holders->live >= TOGETHER_FILTERS_MIN) {
        see_together(m);
    } else {
        see_in_turn(m);
    }
    if (m->engine->always.count > 0 && tm_work_spend(&m->answer->work, m->engine->always.count)) {
        try_entries(m, m->engine->always.entries, m->engine->always.count);
    }
    if (m->waiting_count > 0) {
        verify_waiting(m);
    }
}

/* ---- before and after ---- */

/* Find the wanted interfaces with cells: those that have filters and are candidates. Only a plain answer has any. */
static void find_wanted(matching *m) {
    if (!m->plain) {
        memset(m->matched, 0, sizeof m->matched);
        return;
    }
    const tm_holders *holders = m->engine->holders;
    uint32_t words = tm_bit_words(holders->interface_count);
    for (uint32_t word = 0; word < ONEPATH_CELL_WORDS; word++) {
        m->collected[word] = word < words ? ~holders->clients[word] : 0;
        m->matched[word] = UINT64_MAX;
    }
    for (uint32_t word = 0; word < m->engine->cell_words; word++) {
        uint64_t wanted = m->engine->cell_members[word] & tm_answer_candidates(m->answer, word);
        m->wanted[word] = wanted;
        m->matched[word] = ~wanted;
    }
}

static void put_bits(matching *m) {
    for (uint32_t word = 0; word < m->engine->cell_words; word++) {
        tm_answer_emit_word(m->answer, word, m->matched[word] & m->wanted[word]);
    }
}

static void clear_scratch(matching *m) {
    for (uint32_t i = 0; i < m->noted_count; i++) {
        m->engine->state[m->known[i].name] = 0;
    }
}

void onepath_match(tm_engine *engine, const tm_attribute *attributes, size_t count, tm_answer *answer) {
    matching m; /* not cleared: arrays are written before they are read */
    m.engine = engine;
    m.attributes = attributes;
    m.answer = answer;
    m.plain = answer->form == TM_ANSWER_INTERFACES;
    m.wants_handles = answer->form > TM_ANSWER_GROUPS;
    m.only_bits = m.plain && engine->listed == 0;
    m.wide_tests = 0;
    m.labelled = 0;
    m.is_done = false;
    m.knows_open = false;
    m.rows_seen = 0;
    m.rows_due = ROWS_A_LOOK_MIN;
    m.scratch_used = 0;
    m.slot_count = 0;
    m.known_count = 0;
    m.noted_count = 0;
    m.probe_count = 0;
    m.waiting_count = 0;
    m.span_count = 0;
    m.opened_count = 0;
    m.at_once = false;
    if (m.plain && engine->shared_listed == 0) {
        tm_answer_promise_distinct(answer);
    }
    find_wanted(&m);
    if (!is_full(&m)) {
        see_everything(&m, (uint32_t)count);
    }
    clear_scratch(&m);
    if (m.plain) {
        put_bits(&m);
    }
}
