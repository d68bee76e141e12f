/* bucket_keys.h - the keys of a filter's buckets. Law: as in bucket_keys.c. */
#ifndef TM_ONEPATH_BUCKET_KEYS_H
#define TM_ONEPATH_BUCKET_KEYS_H

#include "engines/onepath/values/compile.h"

/* Return the operand in the key of a number without a code: a hash. */
uint32_t onepath_wide_operand(const tm_hash_key *key, bool is_real, int64_t integer, double real);
/* Return the number of keys of an access test: one, or one for each value of a stored constraint; at most
 * TM_IN_VALUES_MAX. */
uint32_t onepath_keys_by_value(const tm_engine *engine, onepath_test test, uint64_t *keys);
/* Return the number of bucket keys of an access test at this place, at most TM_IN_VALUES_MAX. */
uint32_t onepath_bucket_keys(const tm_engine *engine, onepath_place place, uint32_t branch, onepath_test access,
                             uint64_t *keys);
/* Return the number of bucket keys of a record that has entries, in its branch. */
uint32_t onepath_keys_of_record(const tm_engine *engine, const onepath_record *record, uint64_t *keys);
uint64_t onepath_pair_key_of(const tm_engine *engine, const onepath_tests *tests);
/* Return the key of the bucket of a filter under a pair. */
uint64_t onepath_pair_key_of_record(const tm_engine *engine, uint32_t handle);
/* true if each key of the test's buckets implies the test. */
bool onepath_is_told_by_key(const tm_engine *engine, onepath_test test);
/* Return the name and kind of a test in 26 bits, as the note of a pair's filter has those of its second test. */
static inline uint32_t onepath_partner_of(const tm_engine *engine, onepath_test test) {
    return onepath_test_name(test) << 2 | onepath_kind_of(engine, test);
}

#endif
