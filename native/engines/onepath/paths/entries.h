/* entries.h - what a filter has in buckets and lists: its entries or singles, their keys, its body.
 *
 * Law: the record holds the test and the place by which a filter is reached (state.h); its entry and its body follow
 * from that. An entry's row is noted where it fits, so that a removal does not search. Singles and entries are under
 * every key of the access test, or under none if memory ran out.
 */
#ifndef TM_ONEPATH_ENTRIES_H
#define TM_ONEPATH_ENTRIES_H

#include "engines/onepath/state.h"

/* ---- bodies ---- */

/* Return the size class of a body of `count` tests. */
unsigned onepath_body_class(uint32_t count);
/* Return a new body of the tests from number `first` on; 0 if out of memory, or at an address with the bit
 * ONEPATH_LAST. */
uint32_t onepath_body_new(tm_arena *arena, uint32_t handle, const onepath_tests *tests, uint32_t first);
/* Return the first test, or one that always holds. */
onepath_test onepath_access_of(const onepath_tests *tests);
/* Store the tests of a record in its cold form; false if out of memory, then nothing changed. */
bool onepath_set_aside(tm_engine *engine, uint32_t handle, const onepath_tests *tests);
/* Free a record's body, if it has one. */
void onepath_free_body(tm_engine *engine, uint32_t handle);

/* ---- the tests of a filter ---- */

/* Return all tests of a record, the access test first. */
void onepath_tests_of_record(const tm_engine *engine, uint32_t handle, onepath_tests *out);
/* Return the filter of an entry in a bucket, and its tests: without the search that those of a record need. */
uint32_t onepath_handle_of_entry(const tm_engine *engine, const onepath_entry *entry);
void onepath_tests_of_entry(const tm_engine *engine, const onepath_entry *entry, onepath_tests *out);
/* Return the place of an active record. */
onepath_stand onepath_stand_of(const tm_engine *engine, uint32_t handle);

/* ---- entries and singles ---- */

/* Prefetch the bodies of some entries, then their records. */
void onepath_ask_entries(const tm_engine *engine, const onepath_entry *entries, uint32_t count);

/* Make a body where there are further tests, and the note in the record; false if out of memory. */
bool onepath_rest_make(tm_engine *engine, onepath_record *record, uint32_t handle, const onepath_tests *tests);
/* Return the entry of a filter at its place. */
onepath_entry onepath_entry_of(const tm_engine *engine, onepath_place place, uint32_t interface, uint32_t rest,
                               const onepath_tests *tests);
/* Add an entry under all these keys; false if out of memory, then it is under none. The record must have its place. */
bool onepath_entries_add(tm_engine *engine, const uint64_t *keys, uint32_t count, uint32_t handle, onepath_entry entry);
/* `row`: onepath_row_of the record before its place changed. */
void onepath_entries_remove(tm_engine *engine, const uint64_t *keys, uint32_t count, uint32_t rest, uint32_t row);
/* Add a single under every value of the access test; false if out of memory, then it is under none. */
bool onepath_singles_enter(tm_engine *engine, uint32_t handle, onepath_test access);
void onepath_singles_remove(tm_engine *engine, const uint64_t *keys, uint32_t count, uint32_t handle);
bool onepath_list_enter(tm_engine *engine, onepath_list *list, uint32_t handle,
                        onepath_entry entry); /* false if out of memory */
void onepath_list_remove(tm_engine *engine, onepath_list *list, uint32_t handle);

#endif
