/* enter.h - puts a record into a place, and removes it. Law: as in enter.c. */
#ifndef TM_ONEPATH_ENTER_H
#define TM_ONEPATH_ENTER_H

#include "engines/onepath/state.h"

/* Write the place of the record; its body is not set yet. */
void onepath_begin_stand(onepath_record *record, const onepath_stand *stand, onepath_test access);
/* Add an entry, and a body where there are further tests, at the place that the record already has; `tests` are those
 * that a message must satisfy. `key` is that of a scan or a pair, NULL for others; false if out of memory. */
bool onepath_enter_entry(tm_engine *engine, onepath_key *key, const onepath_stand *stand, uint32_t handle,
                         const onepath_tests *tests);
/* Make a record reachable at a place, under the keys of `roots`: the tests of the bucket outside all branches. An
 * earlier place in the record is overwritten, not freed. false if out of memory, then nothing changed. */
bool onepath_activate_at(tm_engine *engine, uint32_t handle, const onepath_stand *stand, const onepath_tests *tests,
                         const onepath_test roots[2]);
/* Copy the first two of the tests to `roots`. */
void onepath_find_roots(const onepath_tests *tests, onepath_test roots[2]);
/* Make a record reachable in this place, outside all branches; the tests are in its order. false if out of memory, then
 * nothing changed. */
bool onepath_activate_in(tm_engine *engine, uint32_t handle, onepath_place place, const onepath_tests *tests);
/* Take an active record out of its place and free its body; the references of its tests stay. Never fails. */
void onepath_deactivate(tm_engine *engine, uint32_t handle);

#endif
