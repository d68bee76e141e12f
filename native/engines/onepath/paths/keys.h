/* keys.h - makes and frees the key of one name and kind of value. Law: as in keys.c. */
#ifndef TM_ONEPATH_KEYS_H
#define TM_ONEPATH_KEYS_H

#include "engines/onepath/state.h"

/* Return the key, which is made if needed; NULL if out of memory. */
onepath_key *onepath_key_use(tm_engine *engine, uint32_t name, unsigned kind);
/* Return the part of a key for the cells and runs of the test (onepath_range_key), made if needed; NULL if out of
 * memory. */
onepath_key *onepath_key_use_range(tm_engine *engine, onepath_key *key, onepath_test test);
/* Free the key if no filter is pinned to it. */
void onepath_key_drop(tm_engine *engine, uint32_t name, unsigned kind);
void onepath_key_clear(tm_memory *memory, onepath_key *key);
/* Return the number of keys that a place depends on. For a bucket in a branch it is the key of the bucket outside all
 * branches, where a match begins. */
uint32_t onepath_keys_of_place(const tm_engine *engine, onepath_place place, const onepath_test tests[2],
                               uint32_t names[2], unsigned kinds[2]);
/* Count a filter more (1) or less (UINT32_MAX) of a key; a match skips what has none. */
void onepath_key_count(onepath_key *key, onepath_place place, bool is_partner, onepath_test access, uint32_t by);
/* Set the bits of a filter's values; a match makes no probe for values without a bit. */
void onepath_key_mark(const tm_engine *engine, onepath_key *key, onepath_test access);
/* Replace coarse bits of partners by finer ones, eight for each; false if out of memory. */
bool onepath_key_refine(tm_engine *engine, onepath_key *key);
/* Return the part of a test's key that has its cells and runs. */
static inline onepath_key *onepath_range_key(onepath_key *key, onepath_test test) {
    return onepath_op_is_wide(onepath_test_op(test)) ? key->wide : key;
}

#endif
