/* engine.c - the default engine: adding, removing, covering and deferred work; state.h describes its parts.
 *
 * Law: a record is free, covered or active. A covered record is in the list of its coverer, which is an active or
 * covered record of that interface. A record that is removed while it covers others becomes a tombstone: it goes on
 * matching until the records it covers have another place, a few at every change, all of them in onepath_settle. Every
 * function leaves the table exact except for tombstones, and unchanged if it fails.
 */
#include "engines/onepath/covering/cover.h"
#include "engines/onepath/engine_check.h"
#include "engines/onepath/matching/match.h"
#include "engines/onepath/paths/boxes.h"
#include "engines/onepath/paths/branch_walk.h"
#include "engines/onepath/paths/buckets.h"
#include "engines/onepath/paths/entries.h"
#include "engines/onepath/paths/keys.h"
#include "engines/onepath/placing/enter.h"
#include "engines/onepath/placing/place.h"
#include "engines/onepath/placing/tidy.h"
#include "engines/onepath/records.h"
#include "engines/onepath/used.h"
#include "engines/onepath/values/compile.h"
#include "engines/onepath/values/constants.h"
#include "engines/registry.h"

#define SWEEP_RECORDS 2U   /* records that each addition checks for a coverer */
#define DRAIN_AT_ONCE 64U  /* covered filters that find a new place within the removal */
#define DRAIN_ON_CHANGE 8U /* the limit at every other change */
#define ABSORB_MAX 64U     /* narrower ranges that a new range covers at once */

/* ---- scratch ---- */

static bool reserve_words(tm_engine *engine, uint64_t **words, uint32_t *capacity, uint64_t wanted) {
    if (wanted <= *capacity) {
        return true;
    }
    uint64_t *fresh = TM_NEW(engine->memory, TM_HOT, uint64_t, wanted);
    if (fresh == NULL) {
        return false;
    }
    TM_DELETE(engine->memory, TM_HOT, *words, uint64_t, *capacity);
    *words = fresh; /* scratch is all zero between matches: nothing to copy */
    *capacity = (uint32_t)wanted;
    return true;
}

static bool reserve_pattern_scratch(tm_engine *engine) {
    uint64_t count = engine->patterns.count;
    uint64_t wanted = count + (count > ONEPATH_MANY_PATTERNS ? count : ONEPATH_MESSAGE_PATTERNS_MIN);
    if (wanted <= engine->pattern_scratch_capacity) {
        return true;
    }
    uint64_t capacity = wanted + count / 4 + 64;
    uint32_t *scratch = TM_NEW(engine->memory, TM_HOT, uint32_t, capacity);
    if (scratch == NULL) {
        return false;
    }
    TM_DELETE(engine->memory, TM_HOT, engine->pattern_scratch, uint32_t, engine->pattern_scratch_capacity);
    engine->pattern_scratch = scratch;
    engine->pattern_scratch_capacity = (uint32_t)capacity;
    return true;
}

/* Reserve the scratch that a match of this table can need; false if out of memory. */
static bool reserve_scratch(tm_engine *engine) {
    uint32_t constants = engine->strings.live + engine->patterns.count;
    return reserve_words(engine, &engine->state, &engine->state_capacity, engine->names.record_capacity) &&
           reserve_pattern_scratch(engine) && (constants == 0 || onepath_digests_reserve(&engine->digests, constants));
}

/* ---- interfaces and records ---- */

/* Reserve the record of a handle; a free record is all zero. false if out of memory. */
static bool reserve_record(tm_engine *engine, uint32_t handle) {
    if (handle < engine->record_capacity) {
        return true;
    }
    uint64_t capacity = engine->record_capacity + engine->record_capacity / 8 + 16;
    capacity = capacity > handle ? capacity : (uint64_t)handle + 1;
    onepath_record *records = tm_extend_counted(engine->memory, TM_COLD, engine->records,
                                                sizeof *records * engine->record_capacity, sizeof *records * capacity);
    if (records == NULL) {
        return false;
    }
    engine->records = records;
    engine->record_capacity = (uint32_t)capacity;
    return true;
}

/* Reserve the covering of a filter that may be covered; false if out of memory. */
static bool reserve_covering(tm_engine *engine, uint32_t handle) {
    return !onepath_uses_cells(engine, onepath_interface_of(engine, handle)) ||
           onepath_coverings_reserve(&engine->coverings, handle);
}

static void begin_record(tm_engine *engine, uint32_t handle) {
    engine->records[handle] = (onepath_record){0};
    if (onepath_uses_cells(engine, onepath_interface_of(engine, handle))) {
        onepath_covering_begin(&engine->coverings, handle);
    }
}

static void free_record(tm_engine *engine, uint32_t handle) {
    engine->records[handle] = (onepath_record){0};
}

/* Count a filter of the interface that was added, or that is about to be released and still counted by the holders. */
static void count_interface(tm_engine *engine, uint32_t interface, bool more) {
    uint32_t filters = tm_holders_filters(engine->holders, interface);
    if (!onepath_uses_cells(engine, interface)) {
        engine->shared_listed += more && filters == 2;
        engine->shared_listed -= !more && filters == 2;
        return;
    }
    uint64_t bit = UINT64_C(1) << (interface % 64);
    uint64_t *word = &engine->cell_members[interface / 64];
    *word = more || filters > 1 ? *word | bit : *word & ~bit;
    if (interface / 64 >= engine->cell_words) {
        engine->cell_words = interface / 64 + 1;
    }
}

/* ---- covering ---- */

static void hang_on(tm_engine *engine, uint32_t handle, uint32_t coverer) {
    onepath_covering_hang(&engine->coverings, handle, coverer);
    engine->covered++;
}

static void take_off(tm_engine *engine, uint32_t handle) {
    onepath_covering_take_off(&engine->coverings, handle);
    engine->covered--;
}

/* Cover an active record by `coverer`, which implies it. Out of memory the record stays active, which is exact, too. */
static void demote(tm_engine *engine, uint32_t handle, uint32_t coverer) {
    onepath_tests tests;
    onepath_tests_of_record(engine, handle, &tests);
    onepath_record shadow = engine->records[handle];
    if (!onepath_set_aside(engine, handle, &tests)) {
        return;
    }
    onepath_record aside = engine->records[handle];
    engine->records[handle] = shadow;
    onepath_deactivate(engine, handle);
    engine->records[handle].place = ONEPATH_COVERED;
    engine->records[handle].branch = 0;
    engine->records[handle].body = aside.body;
    engine->records[handle].access = aside.access;
    hang_on(engine, handle, coverer);
}

/* Look for coverers of a few records in turn: finds filters that were added before a filter that covers them. */
static void sweep(tm_engine *engine) {
    for (uint32_t i = 0; i < SWEEP_RECORDS; i++) {
        uint32_t handle = engine->sweep < engine->holders->count ? engine->sweep : 0;
        engine->sweep = handle + 1;
        const onepath_record *record = &engine->records[handle];
        if (!onepath_is_active(record) || onepath_is_tombstone(engine, handle)) {
            continue;
        }
        uint32_t interface = onepath_interface_of(engine, handle);
        if (!onepath_uses_cells(engine, interface)) {
            continue;
        }
        onepath_tests tests;
        onepath_tests_of_record(engine, handle, &tests);
        uint32_t coverer = onepath_find_coverer(engine, interface, &tests, handle);
        if (coverer != ONEPATH_NONE) {
            demote(engine, handle, coverer);
        }
    }
}

/* Cover the narrower ranges of the interface and key of a new range by it. */
static void absorb(tm_engine *engine, uint32_t handle) {
    const onepath_record *record = &engine->records[handle];
    if (record->place != ONEPATH_IN_CELLS) {
        return;
    }
    const onepath_strings *strings = onepath_order_of(engine, record->access);
    onepath_key *key =
        engine->names.records[onepath_test_name(record->access)].keys[onepath_kind_of(engine, record->access)];
    const onepath_cells *cells = &onepath_range_key(key, record->access)->cells;
    uint32_t victims[ABSORB_MAX];
    uint32_t count = 0;
    uint32_t first;
    uint32_t end;
    onepath_cells_spans(cells, onepath_interface_of(engine, handle), &first, &end);
    const onepath_span *spans = cells->spans->rows;
    uint32_t own = first;
    while (spans[own].handle != handle) {
        own++;
    }
    for (uint32_t at = first; at < end && count < ABSORB_MAX; at++) {
        if (at != own && !onepath_is_tombstone(engine, spans[at].handle) &&
            onepath_span_covers(spans[own], spans[at], strings)) {
            victims[count++] = spans[at].handle;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        demote(engine, victims[i], handle);
    }
}

/* ---- removal ---- */

/* Free a record that covers none. */
static void finish(tm_engine *engine, uint32_t handle) {
    onepath_record *record = &engine->records[handle];
    onepath_tests tests;
    onepath_tests_of_record(engine, handle, &tests);
    if (record->place == ONEPATH_IN_BOXES) {
        onepath_boxes_ask(engine, handle, &tests);
    }
    onepath_ask_constants(engine, &tests);
    onepath_branches_ask(engine, onepath_branch_of(record));
    onepath_ask_sets(engine, &tests);
    if (record->place == ONEPATH_IN_BOXES) {
        onepath_boxes_ask_bounds(engine, handle);
    }
    if (onepath_is_active(record)) {
        onepath_deactivate(engine, handle);
    } else {
        onepath_free_body(engine, handle);
        take_off(engine, handle);
    }
    onepath_ask_beside(engine, &tests);
    onepath_drop_order(engine, handle, &tests);
    for (uint32_t i = 0; i < tests.count; i++) {
        onepath_release_test(engine, tests.tests[i]);
    }
    count_interface(engine, onepath_interface_of(engine, handle), false);
    free_record(engine, handle);
    tm_holders_release(engine->holders, handle);
}

/* Find a new place for a covered record whose coverer is removed; false if out of memory, then it keeps its coverer. */
static bool rehome(tm_engine *engine, uint32_t handle) {
    onepath_record *record = &engine->records[handle];
    uint32_t old = onepath_covering_at(&engine->coverings, handle)->coverer;
    onepath_tests tests;
    onepath_tests_of_record(engine, handle, &tests);
    uint32_t coverer = onepath_find_coverer(engine, onepath_interface_of(engine, handle), &tests, handle);
    if (coverer != ONEPATH_NONE) {
        take_off(engine, handle);
        hang_on(engine, handle, coverer);
        return true;
    }
    uint32_t aside = record->body;
    uint32_t aside_count = tests.count;
    take_off(engine, handle);
    if (!onepath_activate(engine, handle, &tests)) {
        hang_on(engine, handle, old);
        return false;
    }
    if (aside != 0) {
        tm_arena_give(&engine->covered_bodies, aside, tm_arena_class(aside_count));
    }
    onepath_tidy_around(engine, handle, &tests);
    return true;
}

/* Find new places for at most `steps` filters under tombstones, and free tombstones without any. Out of memory they
 * stay for a later attempt. */
static void drain(tm_engine *engine, uint64_t steps) {
    while (engine->tombstones != ONEPATH_NONE) {
        uint32_t tombstone = engine->tombstones;
        while (onepath_covering_at(&engine->coverings, tombstone)->covers != ONEPATH_NONE) {
            if (steps-- == 0 || !rehome(engine, onepath_covering_at(&engine->coverings, tombstone)->covers)) {
                return;
            }
        }
        engine->tombstones = onepath_covering_at(&engine->coverings, tombstone)->tombstone_next;
        finish(engine, tombstone);
    }
}

static void onepath_remove(tm_engine *engine, uint32_t handle) {
    if (onepath_covers_of(engine, handle) == ONEPATH_NONE) {
        finish(engine, handle);
        drain(engine, DRAIN_ON_CHANGE);
    } else {
        onepath_covering_at(&engine->coverings, handle)->tombstone_next = engine->tombstones;
        engine->tombstones = handle;
        drain(engine, DRAIN_AT_ONCE);
    }
    onepath_tidy(engine);
}

static void onepath_settle(tm_engine *engine, uint64_t steps) {
    drain(engine, steps);
    onepath_tidy(engine);
}

/* ---- adding ---- */

/* Cover or activate a record; false if out of memory, then nothing changed. */
static bool find_place(tm_engine *engine, uint32_t handle, onepath_tests *tests) {
    uint32_t coverer = onepath_find_coverer(engine, onepath_interface_of(engine, handle), tests, handle);
    if (coverer == ONEPATH_NONE) {
        return onepath_activate(engine, handle, tests);
    }
    if (!onepath_set_aside(engine, handle, tests)) {
        return false;
    }
    hang_on(engine, handle, coverer);
    return true;
}

static bool settle_in(tm_engine *engine, uint32_t handle, onepath_tests *tests) {
    bool may_be_covered = onepath_uses_cells(engine, onepath_interface_of(engine, handle));
    if (may_be_covered && !onepath_take_order(engine, handle, tests)) {
        return false;
    }
    bool is_in = find_place(engine, handle, tests);
    if (!is_in) {
        onepath_drop_order(engine, handle, tests);
    }
    return is_in;
}

static int onepath_add(tm_engine *engine, const tm_filter *filter, uint32_t interface, uint32_t handle) {
    onepath_tests tests;
    if (handle < engine->record_capacity) {
        __builtin_prefetch(&engine->records[handle], 1);
    }
    int result = onepath_compile(engine, filter, &tests);
    if (result != TM_OK) {
        return result;
    }
    bool is_in = reserve_scratch(engine) && reserve_record(engine, handle) && reserve_covering(engine, handle);
    if (is_in) {
        begin_record(engine, handle);
        is_in = settle_in(engine, handle, &tests);
    }
    if (!is_in) {
        for (uint32_t i = 0; i < tests.count; i++) {
            onepath_release_test(engine, tests.tests[i]);
        }
        if (handle < engine->record_capacity) {
            free_record(engine, handle);
        }
        return TM_NO_MEMORY;
    }
    count_interface(engine, interface, true);
    if (onepath_is_active(&engine->records[handle])) {
        onepath_tidy_around(engine, handle, &tests);
    }
    absorb(engine, handle);
    sweep(engine);
    drain(engine, DRAIN_ON_CHANGE);
    onepath_tidy(engine);
    return TM_OK;
}

/* ---- life ---- */

static int onepath_create(tm_memory *memory, tm_holders *holders, const uint64_t *values, tm_engine **out) {
    tm_engine *engine = TM_NEW(memory, TM_HOT, tm_engine, 1);
    if (engine == NULL) {
        return TM_NO_MEMORY;
    }
    (void)values;
    engine->memory = memory;
    engine->holders = holders;
    engine->coverings.memory = memory;
    onepath_names_init(&engine->names, memory);
    onepath_strings_init(&engine->strings, memory, false);
    onepath_strings_init(&engine->numbers, memory, true);
    onepath_patterns_init(&engine->patterns, memory);
    onepath_digests_init(&engine->digests, memory);
    onepath_buckets_init(&engine->buckets, memory);
    onepath_branches_init(&engine->branches, memory);
    engine->sample.until = 1;
    tm_arena_init(&engine->bodies, memory, TM_HOT);
    tm_arena_init(&engine->covered_bodies, memory, TM_COLD);
    onepath_boxes_init(engine);
    engine->complex_free = ONEPATH_NONE;
    engine->tombstones = ONEPATH_NONE;
    *out = engine;
    return TM_OK;
}

static void destroy_keys(tm_engine *engine) {
    for (uint32_t name = 0; name < engine->names.record_count; name++) {
        for (unsigned kind = 0; engine->names.records[name].references != 0 && kind <= ONEPATH_ANY; kind++) {
            if (engine->names.records[name].keys[kind] != NULL) {
                onepath_key_clear(engine->memory, engine->names.records[name].keys[kind]);
            }
        }
    }
}

static void onepath_destroy(tm_engine *engine) {
    tm_memory *memory = engine->memory;
    destroy_keys(engine);
    tm_families_clear(&engine->families);
    for (uint32_t id = 0; id < engine->complex_count; id++) {
        onepath_complex *complex = &engine->complexes[id];
        if (complex->constraint.operands != NULL) {
            TM_DELETE(memory, TM_HOT, (uint8_t *)(uintptr_t)(const void *)complex->constraint.operands, uint8_t,
                      complex->size);
        }
    }
    TM_DELETE(memory, TM_HOT, engine->complexes, onepath_complex, engine->complex_capacity);
    TM_DELETE(memory, TM_HOT, engine->always.entries, onepath_entry, engine->always.capacity);
    TM_DELETE(memory, TM_COLD, engine->records, onepath_record, engine->record_capacity);
    onepath_coverings_clear(&engine->coverings);
    TM_DELETE(memory, TM_HOT, engine->state, uint64_t, engine->state_capacity);
    TM_DELETE(memory, TM_HOT, engine->pattern_scratch, uint32_t, engine->pattern_scratch_capacity);
    TM_DELETE(memory, TM_HOT, engine->opened, uint32_t, engine->opened_capacity);
    tm_arena_clear(&engine->bodies);
    tm_arena_clear(&engine->covered_bodies);
    onepath_buckets_clear(&engine->buckets);
    onepath_branches_clear(&engine->branches);
    onepath_digests_clear(&engine->digests);
    onepath_patterns_clear(&engine->patterns);
    onepath_strings_clear(&engine->strings);
    onepath_strings_clear(&engine->numbers);
    onepath_names_clear(&engine->names);
    TM_DELETE(memory, TM_HOT, engine, tm_engine, 1);
}

static void onepath_stats(const tm_engine *engine, tm_stats *stats) {
    stats->active = onepath_count_active(engine);
    stats->names = engine->names.live;
}

/* ---- requests of the table ---- */

static uint64_t onepath_unknown(const tm_engine *engine) {
    return onepath_names_memo(&engine->names, TM_NO_NAME);
}

static void onepath_probes(const tm_engine *engine, tm_probes *probes) {
    onepath_names_probes(&engine->names, probes);
    onepath_strings_probes(&engine->strings, probes);
    onepath_strings_probes(&engine->numbers, probes);
    onepath_patterns_probes(&engine->patterns, probes);
    onepath_buckets_probes(&engine->buckets, probes);
    tm_families_probes(&engine->families, probes);
}

const tm_engine_class tm_engine_tamis = {
    .name = "tamis",
    .about = "The default: one access path for each filter, chosen by what it rejects.",
    .create = onepath_create,
    .destroy = onepath_destroy,
    .add = onepath_add,
    .remove = onepath_remove,
    .settle = onepath_settle,
    .match = onepath_match,
    .unknown = onepath_unknown,
    .stats = onepath_stats,
    .used = onepath_used,
    .probes = onepath_probes,
    .validate = onepath_validate,
};
