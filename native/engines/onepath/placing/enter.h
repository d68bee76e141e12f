/* enter.h - into a place, and out of it. Law: as in enter.c. */
#ifndef TM_ONEPATH_ENTER_H
#define TM_ONEPATH_ENTER_H

#include "engines/onepath/state.h"

/* Where the record will stand; of its body nothing is said yet. */
void onepath_begin_stand(onepath_record *record, const onepath_stand *stand, onepath_test access);
/* Put an entry, and a body where there are further tests, where the stand says, which the record does too; `tests` are
 * those that are made. `key` is that of a scan or a pair, NULL of others; false: no memory. */
bool onepath_enter_entry(tm_engine *engine, onepath_key *key, const onepath_stand *stand, uint32_t handle,
                         const onepath_tests *tests);
/* Make a record reachable where the stand says, behind the keys of `roots`: the tests of the bucket in no branch. What
 * the record said of an earlier place is overwritten, not freed. false: no memory, nothing changed. */
bool onepath_activate_at(tm_engine *engine, uint32_t handle, const onepath_stand *stand, const onepath_tests *tests,
                         const onepath_test roots[2]);
/* The first two of the tests, as a pair of roots. */
void onepath_find_roots(const onepath_tests *tests, onepath_test roots[2]);
/* The same in this place, in no branch, which the tests are in order for. */
bool onepath_activate_in(tm_engine *engine, uint32_t handle, onepath_place place, const onepath_tests *tests);
/* Take an active record out of its place, its body too; the tests' references stay. Never fails. */
void onepath_deactivate(tm_engine *engine, uint32_t handle);

#endif
