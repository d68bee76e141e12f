/* entries.h - what a filter leaves in buckets and lists: its entries or singles, the keys they stand under, its body.
 *
 * Law: the record says by which test and in which place a filter is reached (state.h); what its entry and its body say
 * follows from that. An entry's row is noted where it can be told, so that a removal does not search. Singles and
 * entries stand under every key of the access test, or under none where there is no memory.
 */
#ifndef TM_ONEPATH_ENTRIES_H
#define TM_ONEPATH_ENTRIES_H

#include "engines/onepath/state.h"

/* ---- bodies ---- */

/* The size class of a body of so many tests. */
unsigned onepath_body_class(uint32_t count);
/* A body of the tests from number `first` on; 0: no memory, which the arena's upper half counts as: ONEPATH_LAST. */
uint32_t onepath_body_new(tm_arena *arena, uint32_t handle, const onepath_tests *tests, uint32_t first);
/* The first test, or one that holds always. */
onepath_test onepath_access_of(const onepath_tests *tests);
/* Put the tests of a record into its cold form; false: no memory, nothing changed. */
bool onepath_set_aside(tm_engine *engine, uint32_t handle, const onepath_tests *tests);
void onepath_free_body(tm_engine *engine, uint32_t handle);

/* ---- what the tests of a filter are ---- */

/* All tests of a record, access first. */
void onepath_tests_of_record(const tm_engine *engine, uint32_t handle, onepath_tests *out);
/* The filter whose entry in a bucket this is, and its tests: without the search that a record's take. */
uint32_t onepath_handle_of_entry(const tm_engine *engine, const onepath_entry *entry);
void onepath_tests_of_entry(const tm_engine *engine, const onepath_entry *entry, onepath_tests *out);
/* Where an active record stands. */
onepath_stand onepath_stand_of(const tm_engine *engine, uint32_t handle);

/* ---- entries and singles ---- */

/* Ask for the memory of the bodies of some entries, and when that is there, for that of their records. */
void onepath_ask_entries(const tm_engine *engine, const onepath_entry *entries, uint32_t count);

/* A body where there are further tests, and the note in the record; false: no memory. */
bool onepath_rest_make(tm_engine *engine, onepath_record *record, uint32_t handle, const onepath_tests *tests);
/* The entry of a filter at its place. */
onepath_entry onepath_entry_of(const tm_engine *engine, onepath_place place, uint32_t interface, uint32_t rest,
                               const onepath_tests *tests);
/* Under all these keys; false: no memory, under none. The record says by now at which place. */
bool onepath_entries_add(tm_engine *engine, const uint64_t *keys, uint32_t count, uint32_t handle, onepath_entry entry);
/* `row`: onepath_row_of the record, which may say another place by now. */
void onepath_entries_remove(tm_engine *engine, const uint64_t *keys, uint32_t count, uint32_t rest, uint32_t row);
/* A single under every value of the access test; false: no memory, under none. */
bool onepath_singles_enter(tm_engine *engine, uint32_t handle, onepath_test access);
void onepath_singles_remove(tm_engine *engine, const uint64_t *keys, uint32_t count, uint32_t handle);
bool onepath_list_enter(tm_engine *engine, onepath_list *list, uint32_t handle,
                        onepath_entry entry); /* false: no memory */
void onepath_list_remove(tm_engine *engine, onepath_list *list, uint32_t handle);

#endif
