/* bucket_keys.h - the keys of the buckets that a filter stands in. Law: as in bucket_keys.c. */
#ifndef TM_ONEPATH_BUCKET_KEYS_H
#define TM_ONEPATH_BUCKET_KEYS_H

#include "engines/onepath/values/compile.h"

/* The part of a hash key for a number without a code. */
uint32_t onepath_wide_operand(const tm_hash_key *key, bool is_real, int64_t integer, double real);
/* The keys an access test stands under: one, or one for each value of a kept constraint; at most TM_IN_VALUES_MAX. */
uint32_t onepath_keys_by_value(const tm_engine *engine, onepath_test test, uint64_t *keys);
/* The keys of the buckets under an access test; how many, at most TM_IN_VALUES_MAX. */
uint32_t onepath_bucket_keys(const tm_engine *engine, onepath_place place, uint32_t branch, onepath_test access,
                             uint64_t *keys);
/* The same of a record that has entries, in its branch. */
uint32_t onepath_keys_of_record(const tm_engine *engine, const onepath_record *record, uint64_t *keys);
uint64_t onepath_pair_key_of(const tm_engine *engine, const onepath_tests *tests);
/* The key of the bucket that a filter under a pair stands in. */
uint64_t onepath_pair_key_of_record(const tm_engine *engine, uint32_t handle);
/* Does the key of each bucket that a filter stands in by the test say all that the test does? */
bool onepath_is_told_by_key(const tm_engine *engine, onepath_test test);
/* The name and kind of a test, as a pair's filter keeps those of its second one: 26 bits. */
static inline uint32_t onepath_partner_of(const tm_engine *engine, onepath_test test) {
    return onepath_test_name(test) << 2 | onepath_kind_of(engine, test);
}

#endif
