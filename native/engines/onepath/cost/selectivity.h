/* selectivity.h - estimates how likely a message is to reach a place. Law: as in selectivity.c. */
#ifndef TM_ONEPATH_SELECTIVITY_H
#define TM_ONEPATH_SELECTIVITY_H

#include "engines/onepath/state.h"

#define ONEPATH_NEVER 1e30
#define ONEPATH_AS_GOOD 1.5 /* factor to the lowest selectivity within which a choice is a tie */

/* Return the probability that a message has the name. */
double onepath_selectivity_of_name(const tm_engine *engine, uint32_t name, unsigned kind);
/* true if the test has a bucket. */
bool onepath_has_bucket(const tm_engine *engine, onepath_test test);
/* Return the probability that a message reaches the bucket of the test; ONEPATH_NEVER if it has none. `opened`: whether
 * the bucket is opened. */
double onepath_selectivity_of_bucket(const tm_engine *engine, onepath_test test, bool *opened);
/* Return an upper bound of the tests equal to this one, by the references of its name and its text; 0 if unknown. */
uint32_t onepath_users_of(const tm_engine *engine, onepath_test test);
/* Return the selectivity, raised if the test is expected to hold for `share` of the messages and the sample does not
 * contradict it. */
double onepath_selectivity_at_least(const tm_engine *engine, onepath_test test, double selectivity, double share);
/* Return the selectivity of a bucket that has `with` of `of` filters, from the estimate `guess` before. */
double onepath_selectivity_by_share(double guess, uint32_t with, uint32_t of);
/* Return how many entries of buckets a message is expected to read for its value of the test's name. */
double onepath_rows_expected(const tm_engine *engine, onepath_test test);
/* Return the cost of a filter behind an opened bucket that is reached with the first selectivity, if the best of its
 * other tests has the second. */
double onepath_selectivity_behind(double selectivity, double other);

#endif
