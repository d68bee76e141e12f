/* selectivity.h - how likely a message is to come by a place. Law: as in selectivity.c. */
#ifndef TM_ONEPATH_SELECTIVITY_H
#define TM_ONEPATH_SELECTIVITY_H

#include "engines/onepath/state.h"

#define ONEPATH_NEVER 1e30
#define ONEPATH_AS_GOOD 1.5 /* times the lowest odds: no reason to choose */

/* The chance that a message has the name. */
double onepath_selectivity_of_name(const tm_engine *engine, uint32_t name, unsigned kind);
/* Is there a bucket for the test? */
bool onepath_has_bucket(const tm_engine *engine, onepath_test test);
/* The chance that a message reaches the bucket of the test; ONEPATH_NEVER where there is none. `opened`: is it? */
double onepath_selectivity_of_bucket(const tm_engine *engine, onepath_test test, bool *opened);
/* How many tests may be like this one, at most: as many as have its name and its text; 0 where that is not known. */
uint32_t onepath_users_of(const tm_engine *engine, onepath_test test);
/* Those odds, or more where the test was guessed to hold for `share` of the messages, and they do not say otherwise. */
double onepath_selectivity_at_least(const tm_engine *engine, onepath_test test, double selectivity, double share);
/* The same where `of` filters have `with` of them in the bucket, and it was guessed to be `guess` before. */
double onepath_selectivity_by_share(double guess, uint32_t with, uint32_t of);
/* What a filter costs behind an opened bucket which is reached with the first odds, where the best of its other tests
 * has the second. */
double onepath_selectivity_behind(double selectivity, double other);

#endif
