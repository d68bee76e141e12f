/* similar.h - finds the filters that a new one would be beside, and the tests they share.
 *
 * Law: only estimates are computed here. A test that a filter shares with those it would be beside adds no selectivity
 * to the test of that place, however few filters are under it so far: filters that share several values gather under
 * one of them, and do not spread over all.
 */
#ifndef TM_ONEPATH_SIMILAR_H
#define TM_ONEPATH_SIMILAR_H

#include "engines/onepath/paths/buckets.h"
#include "engines/onepath/state.h"

#define ONEPATH_SIMILAR_MAX 4U /* filters that are compared */
#define ONEPATH_SIMILAR_MIN                                                                                            \
    ONEPATH_FULL_BUCKET_MAX      /* entries of a bucket that is not opened; with fewer, none is compared */
#define ONEPATH_SIMILAR_EARLY 8U /* that limit for a filter of many tests with a bucket, all of which they share */

typedef struct onepath_similar {
    uint32_t count;
    double share; /* of the filters at the start of the path, those at its end */
    onepath_tests filters[ONEPATH_SIMILAR_MAX];
} onepath_similar;

/* Return the bucket at the end of the fullest path that is open to a filter of these tests, from this bucket on;
 * `share` is multiplied by the share of filters here that are on that path. 0 if it falls below `least`. */
uint64_t onepath_similar_end(const tm_engine *engine, uint64_t key, const onepath_tests *tests, double least,
                             double *share);
/* true if one of the tests implies a guard on that path. */
bool onepath_similar_awaits(const tm_engine *engine, uint64_t key, const onepath_tests *tests);
/* Find filters at the end of that path; none if their share is below `least`. */
void onepath_similar_find(const tm_engine *engine, uint64_t key, const onepath_tests *tests, double least,
                          onepath_similar *out);
/* Return a lower bound of the share of filters at the start of the path that have the test; 0 if fewer than two were
 * found. */
double onepath_similar_share(const onepath_similar *similar, onepath_test test);

#endif
