/* place.c - where a filter is reached from, and how it gets there and away.
 *
 * Law: an active record stands in exactly one place; record.access is the test it is reached by (of a pair, the first
 * of the two); its entry, where it has one, may hold one more test, and its body holds all others. Without others there
 * is no body.
 */
#include <string.h>

#include "engines/onepath/boxes.h"
#include "engines/onepath/buckets.h"
#include "engines/onepath/pair_entry.h"

/* ---- bodies ---- */

static unsigned body_class(uint32_t count) {
    return tm_arena_class(1 + count);
}

/* A body of the tests from number `first` on; 0: no memory, which the arena's upper half counts as: TAMIS_LAST. */
static uint32_t new_body(tm_arena *arena, uint32_t handle, const tamis_tests *tests, uint32_t first) {
    uint32_t count = tests->count <= first ? 0 : tests->count - first;
    uint32_t block = tm_arena_take(arena, body_class(count));
    if (block & TAMIS_LAST) {
        tm_arena_give(arena, block, body_class(count));
        return 0;
    }
    if (block != 0) {
        tamis_body *body = (tamis_body *)tm_arena_at(arena, block);
        body->handle = handle;
        body->count = count & 63;
        body->partner = 0;
        memcpy(body->tests, tests->tests + first, sizeof(tamis_test) * count);
    }
    return block;
}

/* In a bucket by value the second test stands in the entry alone. */
static bool is_by_value(unsigned place, tamis_test access) {
    return place == TAMIS_IN_BUCKET && tamis_test_op(access) != TAMIS_COMPLEX;
}

/* How many tests the place has without a body: the access test and, where it fits, one in the entry. */
static uint32_t tests_without_body(unsigned place, const tamis_tests *tests) {
    if (place == TAMIS_IN_PAIR) {
        return tamis_pair_fits(tests) ? 2 : 1;
    }
    return tests->count > 0 && is_by_value(place, tests->tests[0]) ? 2 : 1;
}

static tm_arena *arena_of(tm_engine *engine, unsigned place) {
    return tamis_is_cold(place) ? &engine->covered_bodies : &engine->bodies;
}

void tamis_free_body(tm_engine *engine, uint32_t handle) {
    tamis_record *record = &engine->records[handle];
    if (record->body != 0 && !(record->body & TAMIS_LAST)) {
        tm_arena *arena = arena_of(engine, record->place);
        const tamis_body *body = (const tamis_body *)tm_arena_at(arena, record->body);
        tm_arena_give(arena, record->body, body_class(body->count));
    }
    record->body = 0;
}

static tamis_test access_of(const tamis_tests *tests) {
    return tests->count == 0 ? tamis_test_of(0, TAMIS_TRUE, 0) : tests->tests[0];
}

bool tamis_set_aside(tm_engine *engine, uint32_t handle, const tamis_tests *tests) {
    uint32_t body = 0;
    if (tests->count > 1) {
        body = new_body(&engine->covered_bodies, handle, tests, 1);
        if (body == 0) {
            return false;
        }
    }
    engine->records[handle].body = body;
    engine->records[handle].access = access_of(tests);
    engine->records[handle].place = TAMIS_COVERED;
    return true;
}

/* ---- buckets ---- */

uint32_t tamis_wide_operand(const tm_hash_key *key, bool is_real, int64_t integer, double real) {
    uint64_t bits = (uint64_t)integer;
    if (is_real) {
        memcpy(&bits, &real, sizeof bits);
    }
    return (uint32_t)tm_hash_words(bits, is_real, 0, key);
}

static uint64_t key_of_value(const tm_engine *engine, uint32_t name, const tm_value *value) {
    switch (value->kind) {
    case TM_KIND_BOOLEAN:
        return tamis_bucket_key(TAMIS_BY_BOOLEAN, name, (uint32_t)value->integer);
    case TM_KIND_STRING:
        return tamis_bucket_key(TAMIS_BY_STRING, name,
                                tamis_strings_find(&engine->strings, value->string, value->length));
    case TM_KIND_INTEGER:
        if (tamis_has_code(value->integer)) {
            return tamis_bucket_key(TAMIS_BY_NUMBER, name, (uint32_t)tamis_code_of_integer(value->integer));
        }
        return tamis_bucket_key(TAMIS_BY_WIDE, name,
                                tamis_wide_operand(&engine->buckets.key, false, value->integer, 0));
    default:
        return tamis_bucket_key(TAMIS_BY_WIDE, name, tamis_wide_operand(&engine->buckets.key, true, 0, value->real));
    }
}

uint32_t tamis_bucket_keys(const tm_engine *engine, tamis_test test, uint64_t keys[TM_IN_VALUES_MAX]) {
    uint32_t name = tamis_test_name(test);
    uint32_t operand = tamis_test_operand(test);
    switch (tamis_test_op(test)) {
    case TAMIS_BOOLEAN_EQ:
        keys[0] = tamis_bucket_key(TAMIS_BY_BOOLEAN, name, operand);
        return 1;
    case TAMIS_NUMBER_EQ:
        keys[0] = tamis_bucket_key(TAMIS_BY_NUMBER, name, operand);
        return 1;
    case TAMIS_STRING_EQ:
        keys[0] = tamis_bucket_key(TAMIS_BY_STRING, name, operand);
        return 1;
    case TAMIS_PATTERN:
        keys[0] = tamis_bucket_key(TAMIS_BY_PATTERN, name, operand);
        return 1;
    default:
        break;
    }
    const tm_constraint *constraint = &engine->complexes[operand].constraint;
    uint32_t count = 0;
    for (uint32_t i = 0; i < constraint->operand_count; i++) {
        uint64_t key = key_of_value(engine, name, &constraint->operands[i]);
        uint32_t seen = 0; /* two wide numbers may share a hash */
        while (seen < count && keys[seen] != key) {
            seen++;
        }
        keys[seen] = key;
        count += seen == count;
    }
    return count;
}

static uint32_t partner_of_record(const tm_engine *engine, const tamis_record *record) {
    return record->body & TAMIS_LAST ? record->body & ~TAMIS_LAST : tamis_body_at(engine, record->body)->partner;
}

static uint64_t pair_key_with(const tm_engine *engine, tamis_test access, uint32_t partner) {
    return tamis_pair_key(tamis_test_name(access), tamis_kind_of(engine, access), partner >> 2, partner & 3);
}

uint64_t tamis_pair_key_of_record(const tm_engine *engine, uint32_t handle) {
    const tamis_record *record = &engine->records[handle];
    return pair_key_with(engine, record->access, partner_of_record(engine, record));
}

uint32_t tamis_handle_of_entry(const tm_engine *engine, const tamis_entry *entry) {
    return entry->rest & TAMIS_LAST ? entry->rest & ~TAMIS_LAST : tamis_body_at(engine, entry->rest)->handle;
}

/* The entry of a record that has one more test in it; NULL: it has none. */
static const tamis_entry *entry_beside(const tm_engine *engine, uint32_t handle) {
    const tamis_record *record = &engine->records[handle];
    uint64_t keys[TM_IN_VALUES_MAX];
    if (record->place == TAMIS_IN_PAIR) {
        keys[0] = tamis_pair_key_of_record(engine, handle);
    } else if (is_by_value(record->place, record->access)) {
        tamis_bucket_keys(engine, record->access, keys);
    } else {
        return NULL;
    }
    return tamis_buckets_entry(&engine->buckets, keys[0], tamis_rest_of(engine, handle));
}

static void tests_with(const tm_engine *engine, uint32_t handle, const tamis_entry *entry, tamis_tests *out) {
    const tamis_record *record = &engine->records[handle];
    out->count = tamis_test_op(record->access) != TAMIS_TRUE;
    out->tests[0] = record->access;
    if (is_by_value(record->place, record->access)) {
        out->tests[1] = entry->test;
        out->count += tamis_test_op(entry->test) != TAMIS_TRUE;
    } else if (record->place == TAMIS_IN_PAIR && !tamis_pair_is_plain(entry)) {
        out->tests[out->count++] = tamis_pair_second(entry, partner_of_record(engine, record));
    }
    if (record->body == 0 || (record->body & TAMIS_LAST)) {
        return;
    }
    const tm_arena *arena = tamis_is_cold(record->place) ? &engine->covered_bodies : &engine->bodies;
    const tamis_body *body = (const tamis_body *)tm_arena_at(arena, record->body);
    memcpy(out->tests + out->count, body->tests, sizeof(tamis_test) * body->count);
    out->count += body->count;
}

void tamis_tests_of_record(const tm_engine *engine, uint32_t handle, tamis_tests *out) {
    if (engine->records[handle].place == TAMIS_IN_BOXES) {
        tamis_boxes_tests(engine, handle, out);
    } else {
        tests_with(engine, handle, entry_beside(engine, handle), out);
    }
}

void tamis_tests_of_entry(const tm_engine *engine, const tamis_entry *entry, tamis_tests *out) {
    tests_with(engine, tamis_handle_of_entry(engine, entry), entry, out);
}

static bool add_entries(tm_engine *engine, const uint64_t *keys, uint32_t count, tamis_entry entry) {
    for (uint32_t i = 0; i < count; i++) {
        if (!tamis_buckets_add_entry(&engine->buckets, keys[i], entry)) {
            while (i-- > 0) {
                tamis_buckets_remove_entry(&engine->buckets, keys[i], entry.rest);
            }
            return false;
        }
    }
    return true;
}

/* ---- lists ---- */

static bool list_add(tm_memory *memory, tamis_list *list, tamis_entry entry) {
    if (list->count == list->capacity) {
        uint32_t capacity = list->capacity + list->capacity / 2 + 4;
        tamis_entry *entries = TM_RESIZE(memory, TM_HOT, list->entries, tamis_entry, list->capacity, capacity);
        if (entries == NULL) {
            return false;
        }
        list->entries = entries;
        list->capacity = capacity;
    }
    list->entries[list->count++] = entry;
    return true;
}

static void list_remove(tamis_list *list, uint32_t rest) {
    uint32_t at = 0;
    while (list->entries[at].rest != rest) {
        at++;
    }
    list->entries[at] = list->entries[--list->count];
}

/* ---- in and out ---- */

/* The pins of a place: the keys it hangs on. */
static uint32_t keys_of_place(const tm_engine *engine, tamis_place place, const tamis_tests *tests, uint32_t names[2],
                              unsigned kinds[2]) {
    if (place == TAMIS_IN_ALWAYS || place == TAMIS_IN_BOXES) {
        return 0;
    }
    uint32_t count = place == TAMIS_IN_PAIR ? 2 : 1;
    for (uint32_t i = 0; i < count; i++) {
        names[i] = tamis_test_name(tests->tests[i]);
        kinds[i] = tamis_kind_of(engine, tests->tests[i]);
    }
    return count;
}

/* Bookkeeping of a key by which a match knows whether looking there can pay. */
static void count_in_key(tamis_key *key, tamis_place place, bool is_partner, tamis_test access, uint32_t by) {
    key->pins += by;
    if (place == TAMIS_IN_PAIR) {
        key->pairs += is_partner ? 0 : by;
        key->partner_bits = key->pairs == 0 ? 0 : key->partner_bits;
    } else if (place == TAMIS_IN_BUCKET || place == TAMIS_IN_BUCKET_SINGLE) {
        bool is_pattern = tamis_test_op(access) == TAMIS_PATTERN;
        *(is_pattern ? &key->patterns : &key->equalities) += by;
        key->pattern_bits = key->patterns == 0 ? 0 : key->pattern_bits;
        key->equal_bits = key->equalities == 0 ? 0 : key->equal_bits;
    }
}

/* Set the bits by which a match knows that a probe may find the filter. */
static void mark_operands(const tm_engine *engine, tamis_key *key, tamis_test access) {
    uint64_t keys[TM_IN_VALUES_MAX];
    uint64_t *bits = tamis_test_op(access) == TAMIS_PATTERN ? &key->pattern_bits : &key->equal_bits;
    for (uint32_t left = tamis_bucket_keys(engine, access, keys); left > 0; left--) {
        *bits |= tamis_operand_bit((uint32_t)keys[left - 1]);
    }
}

static int64_t bound_of(tamis_test test, bool *at_most) {
    tamis_span span;
    tamis_span_of(test, &span);
    *at_most = span.no_low;
    return span.no_low ? span.high : span.low;
}

static bool enter_cells(tm_engine *engine, tamis_key *key, uint32_t handle, const tamis_tests *tests) {
    tamis_span span = {0};
    tamis_only_span(engine, tests, &span);
    span.interface = (uint16_t)tamis_interface_of(engine, handle);
    span.handle = handle;
    return tamis_cells_add(engine->memory, &key->cells, span, tamis_order_of(engine, tests->tests[0]));
}

static bool enter_run(tm_engine *engine, tamis_key *key, uint32_t handle, tamis_test test) {
    bool at_most;
    int64_t bound = bound_of(test, &at_most);
    tamis_run **run = at_most ? &key->at_most : &key->at_least;
    if (*run == NULL) {
        *run = TM_NEW(engine->memory, TM_HOT, tamis_run, 1);
        if (*run == NULL) {
            return false;
        }
    }
    tamis_single single = {tamis_interface_of(engine, handle), handle};
    return tamis_run_add(engine->memory, *run, bound, single, tamis_order_of(engine, test));
}

/* The intervals are asked for the tests where an end leaves a doubt: the body is hot. */
static bool enter_intervals(tm_engine *engine, tamis_key *key, uint32_t handle, const tamis_tests *tests) {
    if (key->intervals == NULL) {
        key->intervals = TM_NEW(engine->memory, TM_HOT, tamis_intervals, 1);
    }
    uint32_t body = key->intervals == NULL ? 0 : new_body(&engine->bodies, handle, tests, 1);
    if (body == 0) {
        return false;
    }
    tamis_single single = {tamis_interface_of(engine, handle), handle};
    if (!tamis_intervals_add(engine->memory, key->intervals, tamis_interval_of(engine, tests), single)) {
        tm_arena_give(&engine->bodies, body, body_class(tests->count - 1));
        return false;
    }
    engine->records[handle].body = body;
    return true;
}

/* Coarse bits become finer ones: each stands for eight. */
static bool refine_partners(tm_engine *engine, tamis_key *key) {
    uint64_t *partners = TM_NEW(engine->memory, TM_HOT, uint64_t, TAMIS_PARTNER_WORDS);
    if (partners == NULL) {
        return false;
    }
    for (uint32_t bit = 0; bit < 64; bit++) {
        uint64_t eight = key->partner_bits >> bit & 1 ? 0xff : 0;
        partners[bit / 8] |= eight << (bit % 8 * 8);
    }
    key->partners = partners;
    return true;
}

static bool enter_pair(tm_engine *engine, tamis_key *key, const tamis_tests *tests, tamis_entry entry) {
    if (key->partners == NULL && key->pairs >= TAMIS_PAIRS_FEW && !refine_partners(engine, key)) {
        return false;
    }
    uint64_t bucket = pair_key_with(engine, tests->tests[0], tamis_partner_of(engine, tests->tests[1]));
    if (!tamis_buckets_add_entry(&engine->buckets, bucket, entry)) {
        return false;
    }
    uint32_t bit = tamis_partner_bit(tamis_test_name(tests->tests[1]), tamis_kind_of(engine, tests->tests[1]));
    key->partner_bits |= tamis_coarse_bit(bit);
    if (key->partners != NULL) {
        key->partners[bit / 64] |= UINT64_C(1) << (bit % 64);
    }
    return true;
}

/* The entry of a filter at its place. */
static tamis_entry entry_of(tamis_place place, uint32_t interface, uint32_t rest, const tamis_tests *tests) {
    tamis_test access = access_of(tests);
    if (place == TAMIS_IN_PAIR && tamis_pair_fits(tests)) {
        return tamis_pair_entry(interface, rest, tests);
    }
    if (place == TAMIS_IN_PAIR) {
        return tamis_pair_plain(interface, rest, access);
    }
    if (is_by_value(place, access)) {
        access = tests->count > 1 ? tests->tests[1] : tamis_test_of(0, TAMIS_TRUE, 0);
    }
    return (tamis_entry){interface, rest, access};
}

/* What a record says of its body where it has one or, without one, of its partner. `*body` is new, 0: no memory. */
static bool make_rest(tm_engine *engine, tamis_place place, uint32_t handle, const tamis_tests *tests, uint32_t *body) {
    uint32_t without = tests_without_body(place, tests);
    uint32_t partner = place == TAMIS_IN_PAIR ? tamis_partner_of(engine, tests->tests[1]) : 0;
    if (tests->count <= without) {
        *body = place == TAMIS_IN_PAIR ? TAMIS_LAST | partner : 0;
        return true;
    }
    *body = new_body(&engine->bodies, handle, tests, without);
    if (*body == 0) {
        return false;
    }
    tamis_body_at(engine, *body)->partner = partner & 0x3ffffff;
    return true;
}

/* Put an entry, and a body where there are further tests, where the place says. */
static bool enter_entry(tm_engine *engine, tamis_key *key, tamis_place place, uint32_t handle,
                        const tamis_tests *tests) {
    tamis_record *record = &engine->records[handle];
    if (!make_rest(engine, place, handle, tests, &record->body)) {
        return false;
    }
    tamis_entry entry = entry_of(place, tamis_interface_of(engine, handle), tamis_rest_of(engine, handle), tests);
    uint64_t keys[TM_IN_VALUES_MAX];
    bool entered;
    if (place == TAMIS_IN_BUCKET) {
        entered = add_entries(engine, keys, tamis_bucket_keys(engine, tests->tests[0], keys), entry);
    } else if (place == TAMIS_IN_PAIR) {
        entered = enter_pair(engine, key, tests, entry);
    } else {
        entered = list_add(engine->memory, place == TAMIS_IN_SCAN ? &key->scan : &engine->always, entry);
    }
    if (!entered && !(entry.rest & TAMIS_LAST)) {
        tm_arena_give(&engine->bodies, entry.rest, body_class(tamis_body_at(engine, entry.rest)->count));
    }
    return entered;
}

static bool enter(tm_engine *engine, tamis_key *key, tamis_place place, uint32_t handle, const tamis_tests *tests) {
    uint32_t aside = 0;
    if (place == TAMIS_IN_CELLS || place == TAMIS_IN_RUN) {
        key = tamis_key_use_range(engine, key, tests->tests[0]);
        if (key == NULL) {
            return false;
        }
    }
    switch (place) {
    case TAMIS_IN_CELLS:
        if (tests->count > 1) {
            aside = new_body(&engine->covered_bodies, handle, tests, 1);
            if (aside == 0) {
                return false;
            }
        }
        if (!enter_cells(engine, key, handle, tests)) {
            if (aside != 0) {
                tm_arena_give(&engine->covered_bodies, aside, body_class(tests->count - 1));
            }
            return false;
        }
        engine->records[handle].body = aside;
        return true;
    case TAMIS_IN_RUN:
        engine->records[handle].body = 0;
        return enter_run(engine, key, handle, tests->tests[0]);
    case TAMIS_IN_BOXES:
        return tamis_boxes_enter(engine, handle, tests);
    case TAMIS_IN_INTERVALS:
        return enter_intervals(engine, key, handle, tests);
    case TAMIS_IN_BUCKET_SINGLE: {
        uint64_t buckets[TM_IN_VALUES_MAX];
        tamis_bucket_keys(engine, tests->tests[0], buckets);
        engine->records[handle].body = 0;
        tamis_single single = {tamis_interface_of(engine, handle), handle};
        return tamis_buckets_add_single(&engine->buckets, buckets[0], single);
    }
    default:
        return enter_entry(engine, key, place, handle, tests);
    }
}

bool tamis_activate_in(tm_engine *engine, uint32_t handle, tamis_place place, const tamis_tests *tests) {
    tamis_record *record = &engine->records[handle];
    tamis_record before = *record;
    uint32_t names[2];
    unsigned kinds[2];
    uint32_t count = keys_of_place(engine, place, tests, names, kinds);
    tamis_key *keys[2] = {NULL, NULL};
    bool entered = true;
    for (uint32_t i = 0; i < count && entered; i++) {
        keys[i] = tamis_key_use(engine, names[i], kinds[i]);
        entered = keys[i] != NULL;
    }
    if (!entered || !enter(engine, keys[0], place, handle, tests)) {
        for (uint32_t i = 0; i < count; i++) {
            tamis_key_drop(engine, names[i], kinds[i]);
        }
        *record = before;
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        count_in_key(keys[i], place, i > 0, tests->tests[0], 1);
    }
    if (place == TAMIS_IN_BUCKET || place == TAMIS_IN_BUCKET_SINGLE) {
        mark_operands(engine, keys[0], tests->tests[0]);
    }
    record->access = access_of(tests);
    record->place = (uint8_t)place;
    engine->pair_filters += place == TAMIS_IN_PAIR;
    engine->scanned += place == TAMIS_IN_SCAN;
    engine->listed += !tamis_uses_cells(engine, tamis_interface_of(engine, handle));
    return true;
}

bool tamis_activate(tm_engine *engine, uint32_t handle, tamis_tests *tests) {
    tamis_place place = tamis_choose(engine, tamis_interface_of(engine, handle), tests);
    if (!tamis_activate_in(engine, handle, place, tests)) {
        return false;
    }
    if (place == TAMIS_IN_PAIR) {
        uint64_t pair = pair_key_with(engine, tests->tests[0], tamis_partner_of(engine, tests->tests[1]));
        tamis_boxes_gather(engine, pair, tests, TAMIS_BOXES_MIN);
    } else if (place == TAMIS_IN_BOXES) {
        tamis_boxes_gather(engine, tamis_bucket_of_test(tests->tests[0]), tests, TAMIS_BOXES_MIN);
    } else if (place == TAMIS_IN_BUCKET && tests->count > 1) {
        tamis_boxes_gather(engine, tamis_bucket_of_test(tests->tests[0]), tests, TAMIS_BUCKET_FULL);
    }
    return true;
}

static void leave(tm_engine *engine, tamis_key *key, uint32_t handle, const tamis_tests *tests) {
    tamis_record *record = &engine->records[handle];
    uint64_t keys[TM_IN_VALUES_MAX];
    switch (record->place) {
    case TAMIS_IN_CELLS: {
        tamis_span span = {0};
        tamis_only_span(engine, tests, &span);
        span.interface = (uint16_t)tamis_interface_of(engine, handle);
        span.handle = handle;
        tamis_cells_remove(engine->memory, &tamis_range_key(key, record->access)->cells, span,
                           tamis_order_of(engine, record->access));
        break;
    }
    case TAMIS_IN_RUN: {
        bool at_most;
        int64_t bound = bound_of(record->access, &at_most);
        const tamis_key *part = tamis_range_key(key, record->access);
        tamis_run_remove(engine->memory, at_most ? part->at_most : part->at_least, bound,
                         (tamis_single){tamis_interface_of(engine, handle), handle},
                         tamis_order_of(engine, record->access));
        break;
    }
    case TAMIS_IN_INTERVALS:
        tamis_intervals_remove(engine->memory, key->intervals, tamis_interval_of(engine, tests),
                               (tamis_single){tamis_interface_of(engine, handle), handle});
        break;
    case TAMIS_IN_BUCKET_SINGLE:
        tamis_bucket_keys(engine, record->access, keys);
        tamis_buckets_remove_single(&engine->buckets, keys[0], handle);
        break;
    case TAMIS_IN_BUCKET:
        for (uint32_t left = tamis_bucket_keys(engine, record->access, keys); left > 0; left--) {
            tamis_buckets_remove_entry(&engine->buckets, keys[left - 1], tamis_rest_of(engine, handle));
        }
        break;
    case TAMIS_IN_PAIR:
        tamis_buckets_remove_entry(&engine->buckets, tamis_pair_key_of_record(engine, handle),
                                   tamis_rest_of(engine, handle));
        break;
    case TAMIS_IN_BOXES:
        tamis_boxes_leave(engine, handle);
        break;
    case TAMIS_IN_SCAN:
        list_remove(&key->scan, tamis_rest_of(engine, handle));
        break;
    default:
        list_remove(&engine->always, tamis_rest_of(engine, handle));
        break;
    }
}

void tamis_deactivate(tm_engine *engine, uint32_t handle) {
    tamis_record *record = &engine->records[handle];
    tamis_tests tests;
    tamis_tests_of_record(engine, handle, &tests);
    uint32_t names[2];
    unsigned kinds[2];
    uint32_t count = keys_of_place(engine, (tamis_place)record->place, &tests, names, kinds);
    tamis_key *key = count == 0 ? NULL : engine->names.records[names[0]].keys[kinds[0]];
    leave(engine, key, handle, &tests);
    engine->pair_filters -= record->place == TAMIS_IN_PAIR;
    engine->scanned -= record->place == TAMIS_IN_SCAN;
    engine->listed -= !tamis_uses_cells(engine, tamis_interface_of(engine, handle));
    for (uint32_t i = 0; i < count; i++) {
        count_in_key(engine->names.records[names[i]].keys[kinds[i]], (tamis_place)record->place, i > 0, record->access,
                     UINT32_MAX);
        tamis_key_drop(engine, names[i], kinds[i]);
    }
    tamis_free_body(engine, handle);
    tamis_boxes_scatter(engine);
}
