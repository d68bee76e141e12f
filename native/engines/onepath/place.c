/* place.c - where a filter is reached from, and how it gets there and away.
 *
 * Law: an active record stands in exactly one place; record.access is the test it is reached by (of a pair, the first
 * of the two), record.branch the branch that its bucket stands in. Its entry, where it has one, may hold one more test,
 * and its body holds all that neither the entry nor the branch says. Without others there is no body.
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
        body->note = TAMIS_ROW_UNKNOWN;
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

/* The keys an access test stands under: one, or one for each value of a kept constraint. */
static uint32_t keys_by_value(const tm_engine *engine, tamis_test test, uint64_t *keys) {
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

uint32_t tamis_bucket_keys(const tm_engine *engine, tamis_place place, uint32_t branch, tamis_test access,
                           uint64_t *keys) {
    if (place == TAMIS_IN_NAMED) {
        keys[0] = tamis_name_key(branch, tamis_test_name(access), tamis_kind_of(engine, access));
        return 1;
    }
    uint32_t count = keys_by_value(engine, access, keys);
    for (uint32_t i = 0; branch != 0 && i < count; i++) {
        keys[i] = tamis_key_in_branch(keys[i], branch);
    }
    return count;
}

static uint32_t keys_of_record(const tm_engine *engine, const tamis_record *record, uint64_t *keys) {
    return tamis_bucket_keys(engine, (tamis_place)record->place, record->branch, record->access, keys);
}

static uint64_t pair_key_with(const tm_engine *engine, tamis_test access, uint32_t partner) {
    return tamis_pair_key(tamis_test_name(access), tamis_kind_of(engine, access), partner >> 2, partner & 3);
}

static uint64_t pair_key_of(const tm_engine *engine, const tamis_tests *tests) {
    return pair_key_with(engine, tests->tests[0], tamis_partner_of(engine, tests->tests[1]));
}

uint64_t tamis_pair_key_of_record(const tm_engine *engine, uint32_t handle) {
    const tamis_record *record = &engine->records[handle];
    return pair_key_with(engine, record->access, tamis_note_of(engine, record));
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
        keys_of_record(engine, record, keys);
    } else {
        return NULL;
    }
    return tamis_buckets_entry(&engine->buckets, keys[0], tamis_rest_of(engine, handle), tamis_row_of(engine, record));
}

static void tests_with(const tm_engine *engine, uint32_t handle, const tamis_entry *entry, tamis_tests *out) {
    const tamis_record *record = &engine->records[handle];
    out->count = tamis_test_op(record->access) != TAMIS_TRUE;
    out->tests[0] = record->access;
    if (is_by_value(record->place, record->access)) {
        out->tests[1] = entry->test;
        out->count += tamis_test_op(entry->test) != TAMIS_TRUE;
    } else if (record->place == TAMIS_IN_PAIR && !tamis_pair_is_plain(entry)) {
        out->tests[out->count++] = tamis_pair_second(entry, tamis_note_of(engine, record));
    }
    if (record->body != 0 && !(record->body & TAMIS_LAST)) {
        const tm_arena *arena = tamis_is_cold(record->place) ? &engine->covered_bodies : &engine->bodies;
        const tamis_body *body = (const tamis_body *)tm_arena_at(arena, record->body);
        memcpy(out->tests + out->count, body->tests, sizeof(tamis_test) * body->count);
        out->count += body->count;
    }
    tamis_branch_tests(engine, tamis_branch_of(record), out);
}

tamis_stand tamis_stand_of(const tm_engine *engine, uint32_t handle) {
    const tamis_record *record = &engine->records[handle];
    tamis_tests implied = {.count = 0};
    tamis_branch_tests(engine, tamis_branch_of(record), &implied);
    return (tamis_stand){(tamis_place)record->place, tamis_branch_of(record), implied.count};
}

/* ---- rows ---- */

static void set_note(tm_engine *engine, tamis_record *record, uint32_t note) {
    if (record->body & TAMIS_LAST) {
        record->body = TAMIS_LAST | note;
    } else {
        tamis_body_at(engine, record->body)->note = note & TAMIS_ROW_UNKNOWN;
    }
}

/* Of a slot's rows, 24 bits can tell all. */
static void note_row(tm_engine *engine, uint32_t handle, uint32_t row) {
    tamis_record *record = &engine->records[handle];
    if (record->place == TAMIS_IN_PAIR) {
        record->branch = row & (TAMIS_BRANCHES_MAX - 1);
    } else {
        set_note(engine, record, row);
    }
}

/* What moves to where a removed entry stood is told its new row. */
static void remove_entry(tm_engine *engine, uint64_t key, uint32_t rest, uint32_t row) {
    const tamis_entry *moved = tamis_buckets_remove_entry(&engine->buckets, key, rest, &row);
    if (moved == NULL) {
        return;
    }
    uint32_t handle = tamis_handle_of_entry(engine, moved);
    if (tamis_row_of(engine, &engine->records[handle]) != TAMIS_ROW_UNKNOWN) {
        note_row(engine, handle, row);
    }
}

static void remove_entries(tm_engine *engine, const uint64_t *keys, uint32_t count, uint32_t rest, uint32_t row) {
    for (uint32_t i = 0; i < count; i++) {
        remove_entry(engine, keys[i], rest, row);
    }
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

/* The record says by now at which place. */
static bool add_entries(tm_engine *engine, const uint64_t *keys, uint32_t count, uint32_t handle, tamis_entry entry) {
    uint32_t row;
    for (uint32_t i = 0; i < count; i++) {
        if (!tamis_buckets_add_entry(&engine->buckets, keys[i], entry, &row)) {
            remove_entries(engine, keys, i, entry.rest, TAMIS_ROW_UNKNOWN);
            return false;
        }
    }
    if (count == 1) {
        note_row(engine, handle, row);
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

/* A row of a list as it is noted. */
static uint32_t row_in_list(uint32_t row) {
    return row < TAMIS_ROW_UNKNOWN ? row : TAMIS_ROW_UNKNOWN;
}

static void list_remove(tm_engine *engine, tamis_list *list, uint32_t handle) {
    uint32_t rest = tamis_rest_of(engine, handle);
    uint32_t at = tamis_row_of(engine, &engine->records[handle]);
    if (at >= list->count || list->entries[at].rest != rest) { /* it stands where rows cannot be told */
        for (at = 0; list->entries[at].rest != rest; at++) {
        }
    }
    list->entries[at] = list->entries[--list->count];
    if (at < list->count) {
        note_row(engine, tamis_handle_of_entry(engine, &list->entries[at]), row_in_list(at));
    }
}

/* ---- in and out ---- */

/* The pins of a place: the keys it hangs on. Of a bucket in a branch it is the key of the one that all this is behind,
 * where a message begins. */
static uint32_t keys_of_place(const tm_engine *engine, tamis_place place, const tamis_test tests[2], uint32_t names[2],
                              unsigned kinds[2]) {
    if (place == TAMIS_IN_ALWAYS || place == TAMIS_IN_BOXES) {
        return 0;
    }
    uint32_t count = place == TAMIS_IN_PAIR ? 2 : 1;
    for (uint32_t i = 0; i < count; i++) {
        names[i] = tamis_test_name(tests[i]);
        kinds[i] = tamis_kind_of(engine, tests[i]);
    }
    return count;
}

/* Bookkeeping of a key by which a match knows whether looking there can pay. */
static void count_in_key(tamis_key *key, tamis_place place, bool is_partner, tamis_test access, uint32_t by) {
    key->pins += by;
    if (place == TAMIS_IN_PAIR) {
        key->pairs += is_partner ? 0 : by;
        key->partner_bits = key->pairs == 0 ? 0 : key->partner_bits;
    } else if (place >= TAMIS_IN_BUCKET_SINGLE && place <= TAMIS_IN_NAMED) {
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
    for (uint32_t left = keys_by_value(engine, access, keys); left > 0; left--) {
        *bits |= tamis_operand_bit((uint32_t)keys[left - 1]);
    }
}

/* The same in the fork of a branch that goes to the buckets of these keys. */
static void mark_fork(tm_engine *engine, uint32_t branch, const uint64_t *keys, uint32_t count) {
    uint64_t parent = engine->branches.rows[branch].parent;
    tamis_node *node = tamis_slot_node(&engine->buckets, tamis_buckets_crowd(&engine->buckets, parent).opened);
    uint32_t at = 0;
    while (node->forks[at].branch != branch) {
        at++;
    }
    for (uint32_t i = 0; i < count && tamis_fork_goes_by(node->forks[at].what) != TAMIS_FORK_TEST; i++) {
        node->forks[at].bits |= tamis_operand_bit((uint32_t)keys[i]);
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

static bool enter_intervals(tm_engine *engine, tamis_key *key, uint32_t handle, const tamis_tests *tests) {
    if (key->intervals == NULL) {
        key->intervals = TM_NEW(engine->memory, TM_HOT, tamis_run, 1);
    }
    uint32_t body = key->intervals == NULL ? 0 : new_body(&engine->covered_bodies, handle, tests, 1);
    if (body == 0) {
        return false;
    }
    tamis_single single = {tamis_interface_of(engine, handle), handle};
    if (!tamis_run_add_interval(engine->memory, key->intervals, tamis_interval_of(engine, tests), single,
                                tamis_order_of(engine, tests->tests[0]))) {
        tm_arena_give(&engine->covered_bodies, body, body_class(tests->count - 1));
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

static bool enter_pair(tm_engine *engine, tamis_key *key, uint32_t handle, const tamis_tests *tests,
                       tamis_entry entry) {
    if (key->partners == NULL && key->pairs >= TAMIS_PAIRS_FEW && !refine_partners(engine, key)) {
        return false;
    }
    uint64_t pair = pair_key_of(engine, tests);
    if (!add_entries(engine, &pair, 1, handle, entry)) {
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

/* A body where there are further tests, and the note in the record; false: no memory. */
static bool make_rest(tm_engine *engine, tamis_record *record, uint32_t handle, const tamis_tests *tests) {
    uint32_t without = tests_without_body(record->place, tests);
    record->body = tests->count <= without ? TAMIS_LAST : new_body(&engine->bodies, handle, tests, without);
    if (record->body == 0) {
        return false;
    }
    set_note(engine, record,
             record->place == TAMIS_IN_PAIR ? tamis_partner_of(engine, tests->tests[1]) : TAMIS_ROW_UNKNOWN);
    return true;
}

/* Into a bucket by value, or by name. */
static bool enter_bucket(tm_engine *engine, const tamis_stand *stand, uint32_t handle, const tamis_tests *tests,
                         tamis_entry entry) {
    uint64_t keys[TM_IN_VALUES_MAX];
    uint32_t count = tamis_bucket_keys(engine, stand->place, stand->branch, tests->tests[0], keys);
    if (!add_entries(engine, keys, count, handle, entry)) {
        return false;
    }
    if (stand->branch != 0) {
        mark_fork(engine, stand->branch, keys, count);
        tamis_guards_widen(engine, stand->branch, tests);
    }
    return true;
}

static bool enter_list(tm_engine *engine, tamis_list *list, uint32_t handle, tamis_entry entry) {
    if (!list_add(engine->memory, list, entry)) {
        return false;
    }
    note_row(engine, handle, row_in_list(list->count - 1));
    return true;
}

/* Put an entry, and a body where there are further tests, where the stand says, which the record does too; `tests` are
 * those that are made. */
static bool enter_entry(tm_engine *engine, tamis_key *key, const tamis_stand *stand, uint32_t handle,
                        const tamis_tests *tests) {
    tamis_place place = stand->place;
    if (!make_rest(engine, &engine->records[handle], handle, tests)) {
        return false;
    }
    tamis_entry entry = entry_of(place, tamis_interface_of(engine, handle), tamis_rest_of(engine, handle), tests);
    bool entered;
    if (place == TAMIS_IN_BUCKET || place == TAMIS_IN_NAMED) {
        entered = enter_bucket(engine, stand, handle, tests, entry);
    } else if (place == TAMIS_IN_PAIR) {
        entered = enter_pair(engine, key, handle, tests, entry);
    } else {
        entered = enter_list(engine, place == TAMIS_IN_SCAN ? &key->scan : &engine->always, handle, entry);
    }
    if (!entered && !(entry.rest & TAMIS_LAST)) {
        tm_arena_give(&engine->bodies, entry.rest, body_class(tamis_body_at(engine, entry.rest)->count));
    }
    return entered;
}

static bool enter(tm_engine *engine, tamis_key *key, const tamis_stand *stand, uint32_t handle,
                  const tamis_tests *tests) {
    tamis_place place = stand->place;
    uint32_t aside = 0;
    if (place == TAMIS_IN_CELLS || place == TAMIS_IN_RUN || place == TAMIS_IN_INTERVALS) {
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
        keys_by_value(engine, tests->tests[0], buckets);
        engine->records[handle].body = 0;
        tamis_single single = {tamis_interface_of(engine, handle), handle};
        return tamis_buckets_add_single(&engine->buckets, buckets[0], single);
    }
    default:
        return enter_entry(engine, key, stand, handle, tests);
    }
}

/* Make the keys that a stand hangs on, as far as they are not there, and put the record where it says. */
static bool take_stand(tm_engine *engine, uint32_t handle, const tamis_tests *tests, const tamis_stand *stand,
                       const tamis_test roots[2]) {
    uint32_t names[2];
    unsigned kinds[2];
    uint32_t count = keys_of_place(engine, stand->place, roots, names, kinds);
    tamis_key *keys[2] = {NULL, NULL};
    bool entered = true;
    for (uint32_t i = 0; i < count && entered; i++) {
        keys[i] = tamis_key_use(engine, names[i], kinds[i]);
        entered = keys[i] != NULL;
    }
    tamis_tests made = *tests;
    made.count -= stand->implied;
    if (!entered || !enter(engine, keys[0], stand, handle, &made)) {
        for (uint32_t i = 0; i < count; i++) {
            tamis_key_drop(engine, names[i], kinds[i]);
        }
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        count_in_key(keys[i], stand->place, i > 0, roots[0], 1);
    }
    if (stand->place >= TAMIS_IN_BUCKET_SINGLE && stand->place <= TAMIS_IN_NAMED) {
        mark_operands(engine, keys[0], roots[0]);
    }
    return true;
}

/* Where the record will stand; of its body nothing is said yet. */
static void begin_stand(tamis_record *record, const tamis_stand *stand, tamis_test access) {
    record->access = access;
    record->body = 0;
    record->place = (uint8_t)stand->place;
    record->branch = stand->branch & (TAMIS_BRANCHES_MAX - 1);
}

static bool activate_at(tm_engine *engine, uint32_t handle, const tamis_stand *stand, const tamis_tests *tests,
                        const tamis_test roots[2]) {
    tamis_record *record = &engine->records[handle];
    tamis_record before = *record;
    begin_stand(record, stand, access_of(tests));
    if (!take_stand(engine, handle, tests, stand, roots)) {
        tamis_branches_count(engine, stand->branch, 0, 0);
        *record = before;
        return false;
    }
    tamis_branches_count(engine, stand->branch, 0, 1);
    engine->pair_filters += stand->place == TAMIS_IN_PAIR;
    engine->scanned += stand->place == TAMIS_IN_SCAN;
    engine->listed += !tamis_uses_cells(engine, tamis_interface_of(engine, handle));
    return true;
}

static void find_roots(const tamis_tests *tests, tamis_test roots[2]) {
    roots[0] = access_of(tests);
    roots[1] = tests->count > 1 ? tests->tests[1] : 0;
}

bool tamis_activate_in(tm_engine *engine, uint32_t handle, tamis_place place, const tamis_tests *tests) {
    tamis_test roots[2];
    tamis_stand stand = {.place = place};
    find_roots(tests, roots);
    return activate_at(engine, handle, &stand, tests, roots);
}

/* Of a pair that has filled up, the filters that came last go to their buckets, if that is better now. */
static void leave_pair(tm_engine *engine, uint64_t pair) {
    uint32_t handles[TAMIS_CROWD_MAX];
    const tamis_slot *slot = tamis_buckets_find(&engine->buckets, pair);
    uint32_t filters = slot == NULL ? 0 : slot->entry_count;
    if (filters == 0 || filters % TAMIS_PAIR_MAX != 0 || engine->full_pair != 0 || engine->scatters) {
        return;
    }
    uint32_t count = filters < TAMIS_CROWD_MAX ? filters : TAMIS_CROWD_MAX;
    const tamis_entry *last = tamis_slot_entries(&engine->buckets, slot) + filters - count;
    for (uint32_t i = 0; i < count; i++) {
        handles[i] = tamis_handle_of_entry(engine, &last[i]);
    }
    engine->full_pair = pair;
    engine->full_pair_filters = filters;
    for (uint32_t i = count; i > 0; i--) {
        tamis_tests tests;
        tamis_tests_of_record(engine, handles[i - 1], &tests);
        bool leaves = tamis_choose(engine, tamis_interface_of(engine, handles[i - 1]), &tests) == TAMIS_IN_BUCKET;
        if (leaves ? !tamis_move_anew(engine, handles[i - 1], false) : i == count) {
            break; /* no memory, or not even the last one leaves */
        }
    }
    engine->full_pair = 0;
}

/* Filters that crowd in a bucket with the one that has come, and are of its family, become boxes. */
static void gather(tm_engine *engine, uint32_t handle, const tamis_tests *tests) {
    const tamis_record *record = &engine->records[handle];
    uint64_t key;
    switch (record->place) {
    case TAMIS_IN_PAIR:
        tamis_boxes_gather(engine, pair_key_of(engine, tests), tests, TAMIS_BOXES_MIN);
        leave_pair(engine, pair_key_of(engine, tests));
        break;
    case TAMIS_IN_BOXES:
        tamis_boxes_gather(engine, tamis_bucket_of_test(tests->tests[0]), tests, TAMIS_BOXES_MIN);
        break;
    case TAMIS_IN_BUCKET:
    case TAMIS_IN_NAMED:
        if (tests->count > 1 && (record->place == TAMIS_IN_NAMED || tamis_bucket_of_test(record->access) != 0)) {
            keys_of_record(engine, record, &key);
            tamis_boxes_gather(engine, key, tests, TAMIS_BUCKET_FULL);
        }
        break;
    default:
        break;
    }
}

bool tamis_activate(tm_engine *engine, uint32_t handle, tamis_tests *tests) {
    tamis_record before = engine->records[handle];
    tamis_test roots[2];
    tamis_stand stand = {.place = tamis_choose(engine, tamis_interface_of(engine, handle), tests)};
    find_roots(tests, roots);
    if (stand.place == TAMIS_IN_BUCKET && !tamis_descend(engine, tests, &stand)) {
        return false;
    }
    if (!activate_at(engine, handle, &stand, tests, roots)) {
        return false;
    }
    if (!tamis_relieve(engine, handle)) {
        tamis_deactivate(engine, handle);
        engine->records[handle] = before;
        return false;
    }
    gather(engine, handle, tests);
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
        tamis_run_remove(
            engine->memory, tamis_range_key(key, record->access)->intervals, tamis_interval_of(engine, tests).low,
            (tamis_single){tamis_interface_of(engine, handle), handle}, tamis_order_of(engine, record->access));
        break;
    case TAMIS_IN_BUCKET_SINGLE:
        keys_by_value(engine, record->access, keys);
        tamis_buckets_remove_single(&engine->buckets, keys[0], handle);
        break;
    case TAMIS_IN_BUCKET:
    case TAMIS_IN_NAMED:
        remove_entries(engine, keys, keys_of_record(engine, record, keys), tamis_rest_of(engine, handle),
                       tamis_row_of(engine, record));
        break;
    case TAMIS_IN_PAIR:
        keys[0] = tamis_pair_key_of_record(engine, handle);
        remove_entries(engine, keys, 1, tamis_rest_of(engine, handle), tamis_row_of(engine, record));
        break;
    case TAMIS_IN_BOXES:
        tamis_boxes_leave(engine, handle);
        break;
    case TAMIS_IN_SCAN:
        list_remove(engine, &key->scan, handle);
        break;
    default:
        list_remove(engine, &engine->always, handle);
        break;
    }
}

void tamis_deactivate(tm_engine *engine, uint32_t handle) {
    tamis_record *record = &engine->records[handle];
    tamis_tests tests;
    tamis_tests_of_record(engine, handle, &tests);
    uint32_t branch = tamis_branch_of(record);
    tamis_test roots[2] = {branch == 0 ? tests.tests[0] : tamis_branch_root(engine, branch), tests.tests[1]};
    uint32_t names[2];
    unsigned kinds[2];
    uint32_t count = keys_of_place(engine, (tamis_place)record->place, roots, names, kinds);
    tamis_key *key = count == 0 ? NULL : engine->names.records[names[0]].keys[kinds[0]];
    leave(engine, key, handle, &tests);
    tamis_branches_count(engine, branch, 0, UINT32_MAX);
    record->branch = 0;
    engine->pair_filters -= record->place == TAMIS_IN_PAIR;
    engine->scanned -= record->place == TAMIS_IN_SCAN;
    engine->listed -= !tamis_uses_cells(engine, tamis_interface_of(engine, handle));
    for (uint32_t i = 0; i < count; i++) {
        count_in_key(engine->names.records[names[i]].keys[kinds[i]], (tamis_place)record->place, i > 0, roots[0],
                     UINT32_MAX);
        tamis_key_drop(engine, names[i], kinds[i]);
    }
    tamis_free_body(engine, handle);
    tamis_boxes_scatter(engine);
}

bool tamis_move_anew(tm_engine *engine, uint32_t handle, bool to_boxes) {
    tamis_tests tests;
    tamis_tests_of_record(engine, handle, &tests);
    tamis_record before = engine->records[handle];
    if (!(to_boxes ? tamis_activate_in(engine, handle, TAMIS_IN_BOXES, &tests)
                   : tamis_activate(engine, handle, &tests))) {
        return false;
    }
    tamis_record after = engine->records[handle];
    engine->records[handle] = before;
    tamis_deactivate(engine, handle);
    engine->records[handle] = after;
    return true;
}

/* Where a record stands that is to move, and its tests. */
typedef struct departure {
    tamis_record before;
    tamis_tests tests;
    tamis_stand stand;
    uint64_t keys[TM_IN_VALUES_MAX];
    uint32_t count;
    uint32_t rest;
    uint32_t row;
} departure;

static void prepare(const tm_engine *engine, uint32_t handle, departure *from) {
    from->before = engine->records[handle];
    from->stand = tamis_stand_of(engine, handle);
    tamis_tests_of_record(engine, handle, &from->tests);
    from->count = keys_of_record(engine, &from->before, from->keys);
    from->rest = tamis_rest_of(engine, handle);
    from->row = tamis_row_of(engine, &from->before);
}

/* From there to where the stand says now, for which its tests are in order; `around` is a branch that both are in, or
 * 0. false: no memory, the record stands where it stood. */
static bool go(tm_engine *engine, uint32_t handle, departure *from, uint32_t around) {
    tamis_record *record = &engine->records[handle];
    from->tests.count -= from->stand.implied;
    begin_stand(record, &from->stand, from->tests.tests[0]);
    if (!enter_entry(engine, NULL, &from->stand, handle, &from->tests)) {
        tamis_branches_count(engine, from->stand.branch, around, 0);
        *record = from->before;
        return false;
    }
    tamis_branches_count(engine, from->stand.branch, around, 1);
    remove_entries(engine, from->keys, from->count, from->rest, from->row);
    if (!(from->rest & TAMIS_LAST)) {
        tm_arena_give(&engine->bodies, from->rest, body_class(tamis_body_at(engine, from->rest)->count));
    }
    return true;
}

bool tamis_move_on(tm_engine *engine, uint32_t handle) {
    departure from;
    prepare(engine, handle, &from);
    if (!tamis_descend(engine, &from.tests, &from.stand)) {
        return false;
    }
    return from.stand.branch == from.before.branch || go(engine, handle, &from, from.before.branch);
}

bool tamis_move_beside(tm_engine *engine, uint32_t handle, uint32_t branch) {
    departure from;
    uint32_t around = tamis_key_branch(engine->branches.rows[branch].parent);
    prepare(engine, handle, &from);
    from.stand.branch = branch;
    if (!go(engine, handle, &from, around)) {
        return false;
    }
    tamis_branches_count(engine, from.before.branch, around, UINT32_MAX);
    return true;
}
