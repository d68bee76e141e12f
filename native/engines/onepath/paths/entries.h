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
unsigned tamis_body_class(uint32_t count);
/* A body of the tests from number `first` on; 0: no memory, which the arena's upper half counts as: TAMIS_LAST. */
uint32_t tamis_body_new(tm_arena *arena, uint32_t handle, const tamis_tests *tests, uint32_t first);
/* The first test, or one that holds always. */
tamis_test tamis_access_of(const tamis_tests *tests);
/* Put the tests of a record into its cold form; false: no memory, nothing changed. */
bool tamis_set_aside(tm_engine *engine, uint32_t handle, const tamis_tests *tests);
void tamis_free_body(tm_engine *engine, uint32_t handle);

/* ---- what the tests of a filter are ---- */

/* All tests of a record, access first. */
void tamis_tests_of_record(const tm_engine *engine, uint32_t handle, tamis_tests *out);
/* The filter whose entry in a bucket this is, and its tests: without the search that a record's take. */
uint32_t tamis_handle_of_entry(const tm_engine *engine, const tamis_entry *entry);
void tamis_tests_of_entry(const tm_engine *engine, const tamis_entry *entry, tamis_tests *out);
/* Where an active record stands. */
tamis_stand tamis_stand_of(const tm_engine *engine, uint32_t handle);

/* ---- entries and singles ---- */

/* Ask for the memory of the bodies of some entries, and when that is there, for that of their records. */
void tamis_ask_entries(const tm_engine *engine, const tamis_entry *entries, uint32_t count);

/* A body where there are further tests, and the note in the record; false: no memory. */
bool tamis_rest_make(tm_engine *engine, tamis_record *record, uint32_t handle, const tamis_tests *tests);
/* The entry of a filter at its place. */
tamis_entry tamis_entry_of(const tm_engine *engine, tamis_place place, uint32_t interface, uint32_t rest,
                           const tamis_tests *tests);
/* Under all these keys; false: no memory, under none. The record says by now at which place. */
bool tamis_entries_add(tm_engine *engine, const uint64_t *keys, uint32_t count, uint32_t handle, tamis_entry entry);
/* `row`: tamis_row_of the record, which may say another place by now. */
void tamis_entries_remove(tm_engine *engine, const uint64_t *keys, uint32_t count, uint32_t rest, uint32_t row);
/* A single under every value of the access test; false: no memory, under none. */
bool tamis_singles_enter(tm_engine *engine, uint32_t handle, tamis_test access);
void tamis_singles_remove(tm_engine *engine, const uint64_t *keys, uint32_t count, uint32_t handle);
bool tamis_list_enter(tm_engine *engine, tamis_list *list, uint32_t handle, tamis_entry entry); /* false: no memory */
void tamis_list_remove(tm_engine *engine, tamis_list *list, uint32_t handle);

#endif
