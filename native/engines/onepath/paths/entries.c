/* entries.c - see entries.h. */
#include "engines/onepath/paths/entries.h"

#include <string.h>

#include "engines/onepath/paths/boxes.h"
#include "engines/onepath/paths/branch_walk.h"
#include "engines/onepath/paths/bucket_keys.h"
#include "engines/onepath/paths/buckets.h"
#include "engines/onepath/paths/pair_entry.h"
#include "engines/onepath/records.h"

/* ---- bodies ---- */

unsigned tamis_body_class(uint32_t count) {
    return tm_arena_class(1 + count);
}

uint32_t tamis_body_new(tm_arena *arena, uint32_t handle, const tamis_tests *tests, uint32_t first) {
    uint32_t count = tests->count <= first ? 0 : tests->count - first;
    uint32_t block = tm_arena_take(arena, tamis_body_class(count));
    if (block & TAMIS_LAST) {
        tm_arena_give(arena, block, tamis_body_class(count));
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

/* In a bucket whose key says all that the access test does, the second test stands in the entry alone. */
static bool is_by_value(const tm_engine *engine, unsigned place, tamis_test access) {
    return place == TAMIS_IN_BUCKET && tamis_is_told_by_key(engine, access);
}

/* How many tests the place has without a body: the access test and, where it fits, one in the entry. */
static uint32_t tests_without_body(const tm_engine *engine, unsigned place, const tamis_tests *tests) {
    if (place == TAMIS_IN_PAIR) {
        return tamis_pair_fits(tests) ? 2 : 1;
    }
    return tests->count > 0 && is_by_value(engine, place, tests->tests[0]) ? 2 : 1;
}

static tm_arena *arena_of(tm_engine *engine, unsigned place) {
    return tamis_is_cold(place) ? &engine->covered_bodies : &engine->bodies;
}

void tamis_free_body(tm_engine *engine, uint32_t handle) {
    tamis_record *record = &engine->records[handle];
    if (record->body != 0 && !(record->body & TAMIS_LAST)) {
        tm_arena *arena = arena_of(engine, record->place);
        const tamis_body *body = (const tamis_body *)tm_arena_at(arena, record->body);
        tm_arena_give(arena, record->body, tamis_body_class(body->count));
    }
    record->body = 0;
}

tamis_test tamis_access_of(const tamis_tests *tests) {
    return tests->count == 0 ? tamis_test_of(0, TAMIS_TRUE, 0) : tests->tests[0];
}

bool tamis_set_aside(tm_engine *engine, uint32_t handle, const tamis_tests *tests) {
    uint32_t body = 0;
    if (tests->count > 1) {
        body = tamis_body_new(&engine->covered_bodies, handle, tests, 1);
        if (body == 0) {
            return false;
        }
    }
    engine->records[handle].body = body;
    engine->records[handle].access = tamis_access_of(tests);
    engine->records[handle].place = TAMIS_COVERED;
    return true;
}

/* ---- what the tests of a filter are ---- */

uint32_t tamis_handle_of_entry(const tm_engine *engine, const tamis_entry *entry) {
    return entry->rest & TAMIS_LAST ? entry->rest & ~TAMIS_LAST : tamis_body_at(engine, entry->rest)->handle;
}

/* The entry of a record that has one more test in it; NULL: it has none. */
static const tamis_entry *entry_beside(const tm_engine *engine, uint32_t handle) {
    const tamis_record *record = &engine->records[handle];
    uint64_t keys[TM_IN_VALUES_MAX];
    if (record->place == TAMIS_IN_PAIR) {
        keys[0] = tamis_pair_key_of_record(engine, handle);
    } else if (is_by_value(engine, record->place, record->access)) {
        tamis_keys_of_record(engine, record, keys);
    } else {
        return NULL;
    }
    return tamis_buckets_entry(&engine->buckets, keys[0], tamis_rest_of(engine, handle), tamis_row_of(engine, record));
}

static void tests_with(const tm_engine *engine, uint32_t handle, const tamis_entry *entry, tamis_tests *out) {
    const tamis_record *record = &engine->records[handle];
    out->count = tamis_test_op(record->access) != TAMIS_TRUE;
    out->tests[0] = record->access;
    if (is_by_value(engine, record->place, record->access)) {
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

/* ---- entries in buckets ---- */

void tamis_ask_entries(const tm_engine *engine, const tamis_entry *entries, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (!(entries[i].rest & TAMIS_LAST)) {
            __builtin_prefetch(tamis_body_at(engine, entries[i].rest));
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        __builtin_prefetch(&engine->records[tamis_handle_of_entry(engine, &entries[i])]);
    }
}

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

void tamis_entries_remove(tm_engine *engine, const uint64_t *keys, uint32_t count, uint32_t rest, uint32_t row) {
    for (uint32_t i = 0; i < count; i++) {
        remove_entry(engine, keys[i], rest, row);
    }
}

bool tamis_entries_add(tm_engine *engine, const uint64_t *keys, uint32_t count, uint32_t handle, tamis_entry entry) {
    uint32_t row;
    for (uint32_t i = 0; i < count; i++) {
        if (!tamis_buckets_add_entry(&engine->buckets, keys[i], entry, &row)) {
            tamis_entries_remove(engine, keys, i, entry.rest, TAMIS_ROW_UNKNOWN);
            return false;
        }
    }
    if (count == 1) {
        note_row(engine, handle, row);
    }
    return true;
}

tamis_entry tamis_entry_of(const tm_engine *engine, tamis_place place, uint32_t interface, uint32_t rest,
                           const tamis_tests *tests) {
    tamis_test access = tamis_access_of(tests);
    if (place == TAMIS_IN_PAIR && tamis_pair_fits(tests)) {
        return tamis_pair_entry(interface, rest, tests);
    }
    if (place == TAMIS_IN_PAIR) {
        return tamis_pair_plain(interface, rest, access);
    }
    if (is_by_value(engine, place, access)) {
        access = tests->count > 1 ? tests->tests[1] : tamis_test_of(0, TAMIS_TRUE, 0);
    }
    return (tamis_entry){interface, rest, access};
}

bool tamis_rest_make(tm_engine *engine, tamis_record *record, uint32_t handle, const tamis_tests *tests) {
    uint32_t without = tests_without_body(engine, record->place, tests);
    record->body = tests->count <= without ? TAMIS_LAST : tamis_body_new(&engine->bodies, handle, tests, without);
    if (record->body == 0) {
        return false;
    }
    set_note(engine, record,
             record->place == TAMIS_IN_PAIR ? tamis_partner_of(engine, tests->tests[1]) : TAMIS_ROW_UNKNOWN);
    return true;
}

/* ---- singles ---- */

void tamis_singles_remove(tm_engine *engine, const uint64_t *keys, uint32_t count, uint32_t handle) {
    tamis_buckets_ask(&engine->buckets, keys, count);
    for (uint32_t i = 0; i < count; i++) {
        tamis_buckets_remove_single(&engine->buckets, keys[i], handle);
    }
}

bool tamis_singles_enter(tm_engine *engine, uint32_t handle, tamis_test access) {
    uint64_t keys[TM_IN_VALUES_MAX];
    uint32_t count = tamis_keys_by_value(engine, access, keys);
    tamis_single single = {tamis_interface_of(engine, handle), handle};
    tamis_buckets_ask(&engine->buckets, keys, count);
    for (uint32_t i = 0; i < count; i++) {
        if (!tamis_buckets_add_single(&engine->buckets, keys[i], single)) {
            tamis_singles_remove(engine, keys, i, handle);
            return false;
        }
    }
    engine->records[handle].body = 0;
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

void tamis_list_remove(tm_engine *engine, tamis_list *list, uint32_t handle) {
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

bool tamis_list_enter(tm_engine *engine, tamis_list *list, uint32_t handle, tamis_entry entry) {
    if (!list_add(engine->memory, list, entry)) {
        return false;
    }
    note_row(engine, handle, row_in_list(list->count - 1));
    return true;
}
