/* similar.h - the filters beside which a new one would stand, and what most of them test as well.
 *
 * Law: only guesses come from here. A test that a filter shares with those beside which it would stand tells them apart
 * no better than the test by which they stand there, however few filters stand under it so far: filters that share
 * several values gather under one of them, and do not spread over all.
 */
#ifndef TM_ONEPATH_SIMILAR_H
#define TM_ONEPATH_SIMILAR_H

#include "engines/onepath/paths/buckets.h"
#include "engines/onepath/state.h"

#define ONEPATH_SIMILAR_MAX 4U /* filters that are looked at */
#define ONEPATH_SIMILAR_MIN                                                                                            \
    ONEPATH_FULL_BUCKET_MAX      /* entries in a bucket that is not opened; of fewer nobody is asked */
#define ONEPATH_SIMILAR_EARLY 8U /* the same for a filter of many tests with a bucket, all of which they share */

typedef struct onepath_similar {
    uint32_t count;
    double share; /* of the filters at the begin of the way, how many stand at its end */
    onepath_tests filters[ONEPATH_SIMILAR_MAX];
} onepath_similar;

/* The bucket at the end of the fullest way that is open to a filter of these tests, from this bucket on; `share` is
 * multiplied by the share of those here that have gone that way. 0: it has fallen below `least`. */
uint64_t onepath_similar_end(const tm_engine *engine, uint64_t key, const onepath_tests *tests, double least,
                             double *share);
/* Does one of the tests imply a guard on that way? */
bool onepath_similar_awaits(const tm_engine *engine, uint64_t key, const onepath_tests *tests);
/* Filters that stand there; none where no share of at least `least` does. */
void onepath_similar_find(const tm_engine *engine, uint64_t key, const onepath_tests *tests, double least,
                          onepath_similar *out);
/* Which share of the filters at the begin of the way makes the test, at least; 0 where one or none was found. */
double onepath_similar_share(const onepath_similar *similar, onepath_test test);

#endif
