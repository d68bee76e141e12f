/* entries.c - entries, singles and bodies of filters. Law: as in entries.h. */
#include "engines/onepath/paths/entries.h"

#include <string.h>

#include "engines/onepath/paths/boxes.h"
#include "engines/onepath/paths/branch_walk.h"
#include "engines/onepath/paths/bucket_keys.h"
#include "engines/onepath/paths/buckets.h"
#include "engines/onepath/paths/pair_entry.h"
#include "engines/onepath/records.h"

/* ---- bodies ---- */

unsigned onepath_body_class(uint32_t count) {
    return tm_arena_class(1 + count);
}

uint32_t onepath_body_new(tm_arena *arena, uint32_t handle, const onepath_tests *tests, uint32_t first) {
    uint32_t count = tests->count <= first ? 0 : tests->count - first;
    uint32_t block = tm_arena_take(arena, onepath_body_class(count));
    if (block & ONEPATH_LAST) {
        tm_arena_give(arena, block, onepath_body_class(count));
        return 0;
    }
    if (block != 0) {
        onepath_body *body = (onepath_body *)tm_arena_at(arena, block);
        body->handle = handle;
        body->count = count & 63;
        body->note = ONEPATH_ROW_UNKNOWN;
        memcpy(body->tests, tests->tests + first, sizeof(onepath_test) * count);
    }
    return block;
}

/* true if a bucket's key implies the access test: the entry then holds the second test. */
static bool is_by_value(const tm_engine *engine, unsigned place, onepath_test access) {
    return place == ONEPATH_IN_BUCKET && onepath_is_told_by_key(engine, access);
}

/* Return how many tests need no body at the place: the access test and, where it fits, one in the entry. */
static uint32_t tests_without_body(const tm_engine *engine, unsigned place, const onepath_tests *tests) {
    if (place == ONEPATH_IN_PAIR) {
        return onepath_pair_fits(tests) ? 2 : 1;
    }
    return tests->count > 0 && is_by_value(engine, place, tests->tests[0]) ? 2 : 1;
}

static tm_arena *arena_of(tm_engine *engine, unsigned place) {
    return onepath_is_cold(place) ? &engine->covered_bodies : &engine->bodies;
}

void onepath_free_body(tm_engine *engine, uint32_t handle) {
    onepath_record *record = &engine->records[handle];
    if (record->body != 0 && !(record->body & ONEPATH_LAST)) {
        tm_arena *arena = arena_of(engine, record->place);
        const onepath_body *body = (const onepath_body *)tm_arena_at(arena, record->body);
        tm_arena_give(arena, record->body, onepath_body_class(body->count));
    }
    record->body = 0;
}

onepath_test onepath_access_of(const onepath_tests *tests) {
    return tests->count == 0 ? onepath_test_of(0, ONEPATH_TRUE, 0) : tests->tests[0];
}

bool onepath_set_aside(tm_engine *engine, uint32_t handle, const onepath_tests *tests) {
    uint32_t body = 0;
    if (tests->count > 1) {
        body = onepath_body_new(&engine->covered_bodies, handle, tests, 1);
        if (body == 0) {
            return false;
        }
    }
    engine->records[handle].body = body;
    engine->records[handle].access = onepath_access_of(tests);
    engine->records[handle].place = ONEPATH_COVERED;
    return true;
}

/* ---- the tests of a filter ---- */

uint32_t onepath_handle_of_entry(const tm_engine *engine, const onepath_entry *entry) {
    return entry->rest & ONEPATH_LAST ? entry->rest & ~ONEPATH_LAST : onepath_body_at(engine, entry->rest)->handle;
}

/* Return the entry of a record if it holds one more test; NULL otherwise. */
static const onepath_entry *entry_beside(const tm_engine *engine, uint32_t handle) {
    const onepath_record *record = &engine->records[handle];
    uint64_t keys[TM_IN_VALUES_MAX];
    if (record->place == ONEPATH_IN_PAIR) {
        keys[0] = onepath_pair_key_of_record(engine, handle);
    } else if (is_by_value(engine, record->place, record->access)) {
        onepath_keys_of_record(engine, record, keys);
    } else {
        return NULL;
    }
    return onepath_buckets_entry(&engine->buckets, keys[0], onepath_rest_of(engine, handle),
                                 onepath_row_of(engine, record));
}

static void tests_with(const tm_engine *engine, uint32_t handle, const onepath_entry *entry, onepath_tests *out) {
    const onepath_record *record = &engine->records[handle];
    out->count = onepath_test_op(record->access) != ONEPATH_TRUE;
    out->tests[0] = record->access;
    if (is_by_value(engine, record->place, record->access)) {
        out->tests[1] = entry->test;
        out->count += onepath_test_op(entry->test) != ONEPATH_TRUE;
    } else if (record->place == ONEPATH_IN_PAIR && !onepath_pair_is_plain(entry)) {
        out->tests[out->count++] = onepath_pair_second(entry, onepath_note_of(engine, record));
    }
    if (record->body != 0 && !(record->body & ONEPATH_LAST)) {
        const tm_arena *arena = onepath_is_cold(record->place) ? &engine->covered_bodies : &engine->bodies;
        const onepath_body *body = (const onepath_body *)tm_arena_at(arena, record->body);
        memcpy(out->tests + out->count, body->tests, sizeof(onepath_test) * body->count);
        out->count += body->count;
    }
    onepath_branch_tests(engine, onepath_branch_of(record), out);
}

onepath_stand onepath_stand_of(const tm_engine *engine, uint32_t handle) {
    const onepath_record *record = &engine->records[handle];
    onepath_tests implied = {.count = 0};
    onepath_branch_tests(engine, onepath_branch_of(record), &implied);
    return (onepath_stand){(onepath_place)record->place, onepath_branch_of(record), implied.count};
}

void onepath_tests_of_record(const tm_engine *engine, uint32_t handle, onepath_tests *out) {
    if (engine->records[handle].place == ONEPATH_IN_BOXES) {
        onepath_boxes_tests(engine, handle, out);
    } else {
        tests_with(engine, handle, entry_beside(engine, handle), out);
    }
}

void onepath_tests_of_entry(const tm_engine *engine, const onepath_entry *entry, onepath_tests *out) {
    tests_with(engine, onepath_handle_of_entry(engine, entry), entry, out);
}

/* ---- entries in buckets ---- */

void onepath_ask_entries(const tm_engine *engine, const onepath_entry *entries, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (!(entries[i].rest & ONEPATH_LAST)) {
            __builtin_prefetch(onepath_body_at(engine, entries[i].rest));
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        __builtin_prefetch(&engine->records[onepath_handle_of_entry(engine, &entries[i])]);
    }
}

static void set_note(tm_engine *engine, onepath_record *record, uint32_t note) {
    if (record->body & ONEPATH_LAST) {
        record->body = ONEPATH_LAST | note;
    } else {
        onepath_body_at(engine, record->body)->note = note & ONEPATH_ROW_UNKNOWN;
    }
}

/* Note the row of an entry; all rows of a slot fit in 24 bits. */
static void note_row(tm_engine *engine, uint32_t handle, uint32_t row) {
    onepath_record *record = &engine->records[handle];
    if (record->place == ONEPATH_IN_PAIR) {
        record->branch = row & (ONEPATH_BRANCHES_MAX - 1);
    } else {
        set_note(engine, record, row);
    }
}

/* Return the key of the value whose bucket this is; NULL: it is behind a branch, or of something else. */
static onepath_key *key_of_value(const tm_engine *engine, uint64_t bucket) {
    static const uint8_t KINDS[ONEPATH_BY_NAME + 1] = {
        [ONEPATH_BY_BOOLEAN] = ONEPATH_BOOLEAN + 1,
        [ONEPATH_BY_NUMBER] = ONEPATH_NUMBER + 1,
        [ONEPATH_BY_STRING] = ONEPATH_STRING + 1,
    };
    uint8_t kind = onepath_key_branch(bucket) == 0 ? KINDS[onepath_key_tag(bucket)] : 0;
    return kind == 0 ? NULL : engine->names.records[(uint32_t)(bucket >> 32) & 0xffffff].keys[kind - 1];
}

/* Return how much the squares of entries grow with the last entry of the bucket. */
static uint64_t square_of_last(const tm_engine *engine, uint64_t bucket) {
    return 2 * (uint64_t)onepath_bucket_is_full(&engine->buckets, bucket).entries - 1;
}

/* Remove an entry, and note the new row of the entry that takes its place. */
static void remove_entry(tm_engine *engine, uint64_t key, uint32_t rest, uint32_t row) {
    onepath_key *of_value = key_of_value(engine, key);
    if (of_value != NULL) {
        of_value->rows_squared -= square_of_last(engine, key);
    }
    const onepath_entry *moved = onepath_buckets_remove_entry(&engine->buckets, key, rest, &row);
    if (moved == NULL) {
        return;
    }
    uint32_t handle = onepath_handle_of_entry(engine, moved);
    if (onepath_row_of(engine, &engine->records[handle]) != ONEPATH_ROW_UNKNOWN) {
        note_row(engine, handle, row);
    }
}

void onepath_entries_remove(tm_engine *engine, const uint64_t *keys, uint32_t count, uint32_t rest, uint32_t row) {
    for (uint32_t i = 0; i < count; i++) {
        remove_entry(engine, keys[i], rest, row);
    }
}

bool onepath_entries_add(tm_engine *engine, const uint64_t *keys, uint32_t count, uint32_t handle,
                         onepath_entry entry) {
    uint32_t row;
    for (uint32_t i = 0; i < count; i++) {
        if (!onepath_buckets_add_entry(&engine->buckets, keys[i], entry, &row)) {
            onepath_entries_remove(engine, keys, i, entry.rest, ONEPATH_ROW_UNKNOWN);
            return false;
        }
        onepath_key *of_value = key_of_value(engine, keys[i]);
        if (of_value != NULL) {
            of_value->rows_squared += square_of_last(engine, keys[i]);
        }
    }
    if (count == 1) {
        note_row(engine, handle, row);
    }
    return true;
}

onepath_entry onepath_entry_of(const tm_engine *engine, onepath_place place, uint32_t interface, uint32_t rest,
                               const onepath_tests *tests) {
    onepath_test access = onepath_access_of(tests);
    if (place == ONEPATH_IN_PAIR && onepath_pair_fits(tests)) {
        return onepath_pair_entry(interface, rest, tests);
    }
    if (place == ONEPATH_IN_PAIR) {
        return onepath_pair_plain(interface, rest, access);
    }
    if (is_by_value(engine, place, access)) {
        access = tests->count > 1 ? tests->tests[1] : onepath_test_of(0, ONEPATH_TRUE, 0);
    }
    return (onepath_entry){interface, rest, access};
}

bool onepath_rest_make(tm_engine *engine, onepath_record *record, uint32_t handle, const onepath_tests *tests) {
    uint32_t without = tests_without_body(engine, record->place, tests);
    record->body = tests->count <= without ? ONEPATH_LAST : onepath_body_new(&engine->bodies, handle, tests, without);
    if (record->body == 0) {
        return false;
    }
    set_note(engine, record,
             record->place == ONEPATH_IN_PAIR ? onepath_partner_of(engine, tests->tests[1]) : ONEPATH_ROW_UNKNOWN);
    return true;
}

/* ---- singles ---- */

void onepath_singles_remove(tm_engine *engine, const uint64_t *keys, uint32_t count, uint32_t handle) {
    onepath_buckets_ask(&engine->buckets, keys, count);
    for (uint32_t i = 0; i < count; i++) {
        onepath_buckets_remove_single(&engine->buckets, keys[i], handle);
    }
}

bool onepath_singles_enter(tm_engine *engine, uint32_t handle, onepath_test access) {
    uint64_t keys[TM_IN_VALUES_MAX];
    uint32_t count = onepath_keys_by_value(engine, access, keys);
    onepath_single single = {onepath_interface_of(engine, handle), handle};
    onepath_buckets_ask(&engine->buckets, keys, count);
    for (uint32_t i = 0; i < count; i++) {
        if (!onepath_buckets_add_single(&engine->buckets, keys[i], single)) {
            onepath_singles_remove(engine, keys, i, handle);
            return false;
        }
    }
    engine->records[handle].body = 0;
    return true;
}

/* ---- lists ---- */

static bool list_add(tm_memory *memory, onepath_list *list, onepath_entry entry) {
    if (list->count == list->capacity) {
        uint32_t capacity = list->capacity + list->capacity / 2 + 4;
        onepath_entry *entries = TM_RESIZE(memory, TM_HOT, list->entries, onepath_entry, list->capacity, capacity);
        if (entries == NULL) {
            return false;
        }
        list->entries = entries;
        list->capacity = capacity;
    }
    list->entries[list->count++] = entry;
    return true;
}

/* Return the row of a list in the form that is noted. */
static uint32_t row_in_list(uint32_t row) {
    return row < ONEPATH_ROW_UNKNOWN ? row : ONEPATH_ROW_UNKNOWN;
}

void onepath_list_remove(tm_engine *engine, onepath_list *list, uint32_t handle) {
    uint32_t rest = onepath_rest_of(engine, handle);
    uint32_t at = onepath_row_of(engine, &engine->records[handle]);
    if (at >= list->count || list->entries[at].rest != rest) { /* the row is unknown */
        for (at = 0; list->entries[at].rest != rest; at++) {
        }
    }
    list->entries[at] = list->entries[--list->count];
    if (at < list->count) {
        note_row(engine, onepath_handle_of_entry(engine, &list->entries[at]), row_in_list(at));
    }
}

bool onepath_list_enter(tm_engine *engine, onepath_list *list, uint32_t handle, onepath_entry entry) {
    if (!list_add(engine->memory, list, entry)) {
        return false;
    }
    note_row(engine, handle, row_in_list(list->count - 1));
    return true;
}
