/* keys.h - the life of what hangs on one name and kind of value. Law: as in keys.c. */
#ifndef TM_ONEPATH_KEYS_H
#define TM_ONEPATH_KEYS_H

#include "engines/onepath/state.h"

/* The key, made if need be; NULL: no memory. */
onepath_key *onepath_key_use(tm_engine *engine, uint32_t name, unsigned kind);
/* The part of it for the cells and runs of the test (onepath_range_key), made if need be; NULL: no memory. */
onepath_key *onepath_key_use_range(tm_engine *engine, onepath_key *key, onepath_test test);
/* Free it where nothing is pinned to it. */
void onepath_key_drop(tm_engine *engine, uint32_t name, unsigned kind);
void onepath_key_clear(tm_memory *memory, onepath_key *key);
/* The pins of a place: the keys it hangs on. Of a bucket in a branch it is the key of the one that all this is behind,
 * where a message begins. */
uint32_t onepath_keys_of_place(const tm_engine *engine, onepath_place place, const onepath_test tests[2],
                               uint32_t names[2], unsigned kinds[2]);
/* Bookkeeping of a key by which a match knows whether looking there can pay: a filter more (1) or less (UINT32_MAX). */
void onepath_key_count(onepath_key *key, onepath_place place, bool is_partner, onepath_test access, uint32_t by);
/* Set the bits by which a match knows that a probe may find the filter. */
void onepath_key_mark(const tm_engine *engine, onepath_key *key, onepath_test access);
/* Coarse bits of partners become finer ones: each stands for eight; false: no memory. */
bool onepath_key_refine(tm_engine *engine, onepath_key *key);
/* The part of a test's key that has its cells and runs. */
static inline onepath_key *onepath_range_key(onepath_key *key, onepath_test test) {
    return onepath_op_is_wide(onepath_test_op(test)) ? key->wide : key;
}

#endif
