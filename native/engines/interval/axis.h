/* axis.h - one attribute: rising cuts, and between neighbours the filters whose intervals reach across.
 *
 *     cuts          after 5    before 20   end         x > 5 and x < 20: filter 9
 *     edges      (.. 5]   (5 .. 20)   [20 ..]          x < 20:           filter 7
 *     sets         {7}      {7 9}        {}
 *
 * Law: an edge is an elementary interval: from the cut before it to its own. The last one ends at tm_cut_end and always
 * exists; any other exists as long as an interval begins or ends at it. A filter is in the sets of exactly those edges
 * that its parts reach across, so that two neighbours differ. Filters without a predicate on the attribute are in no
 * set: they have no bit in `cares`.
 */
#ifndef TM_INTERVAL_AXIS_H
#define TM_INTERVAL_AXIS_H

#include "engines/interval/cut.h"
#include "engines/interval/set.h"

typedef struct tm_edge {
    tm_cut cut;    /* its text is owned */
    uint32_t refs; /* parts that begin or end here; one more at the last edge */
    tm_interval_set set;
} tm_edge;

typedef struct tm_axis {
    uint32_t name; /* id, held by the structure */
    uint32_t count;
    uint32_t capacity;
    uint32_t care_count; /* filters with a predicate on it */
    uint32_t care_words;
    uint32_t empty;   /* edges without filters */
    uint64_t members; /* of all sets */
    uint64_t looks;   /* messages counted here, and the filters that remained: see order.c */
    uint64_t left;
    uint64_t *cares; /* owned bits, by seat */
    tm_edge **edges; /* owned, and so is each of them */
} tm_axis;

/* One interval of a filter. The axis owns the edges and counts references. `high` is NULL if the filter has no interval
 * on this axis, though it has a predicate. */
typedef struct tm_part {
    tm_axis *axis;
    tm_edge *low; /* the edge after which it begins; NULL: at the first cut */
    tm_edge *high;
} tm_part;

/* NULL if out of memory. */
tm_axis *tm_axis_new(tm_interval_store *store, uint32_t name);
void tm_axis_free(tm_axis *axis, tm_interval_store *store);

/* Return the index of the first edge whose cut is not below `cut`: for the cut just after a value, its interval. */
uint32_t tm_axis_find(const tm_axis *axis, const tm_cut *cut);
/* Return the index of the first edge that a part reaches across, and that of the last one. */
uint32_t tm_part_first(const tm_part *part);
uint32_t tm_part_last(const tm_part *part);
/* Return the number of edges that the span would reach across, at most. */
uint32_t tm_axis_reach(const tm_axis *axis, const tm_span *span);

/* Note that filter `seat` has a predicate on this axis; false if out of memory. */
bool tm_axis_care(tm_axis *axis, tm_interval_store *store, uint32_t seat);
void tm_axis_forget(tm_axis *axis, uint32_t seat);
static inline bool tm_axis_is_cared(const tm_axis *axis, uint32_t seat) {
    return seat / 64 < axis->care_words && tm_bit_at(axis->cares, seat);
}
/* Return word `index` of `cares`: 0 past its end. */
static inline uint64_t tm_axis_care_word(const tm_axis *axis, uint32_t index) {
    return index < axis->care_words ? axis->cares[index] : 0;
}

/* Place a filter across a span, which is not empty and touches no other of the filter; false if out of memory, then
 * nothing changed. */
bool tm_axis_place(tm_axis *axis, tm_interval_store *store, const tm_span *span, uint32_t seat, tm_density density,
                   tm_part *out);
/* Remove a filter from the edges of its part, in at most `*steps` steps, and reduce `*steps`: one for each edge, and
 * one for each TM_STEP_BYTES written. true if the part is cleared; otherwise it is shorter. */
#define TM_STEP_BYTES 2048U
bool tm_axis_clear(tm_part *part, tm_interval_store *store, uint32_t seat, tm_density density, uint64_t *steps);

#endif
