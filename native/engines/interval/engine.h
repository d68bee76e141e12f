/* engine.h - the engine `interval`: the centralised filter algorithm of paper 003 (DAS, PrimAS), section 4.1.
 *
 * Law: a filter that is intervals (draft.h) and stays within the limits of its structure (structure.h) sits there: in
 * that of its type, or in the one of all others. Every other filter is counted by a core of the engine `counting`; none
 * is in both. One answer takes what all find: the core is asked first, as it marks what is not wanted.
 */
#ifndef TM_INTERVAL_ENGINE_H
#define TM_INTERVAL_ENGINE_H

#include "engines/interval/survivors.h"
#include "engines/papers/counting.h"

#define TM_SLICE_EDGES 4096U /* that one removal looks at */

/* Where a filter sits. */
typedef struct tm_interval_place {
    tm_structure *structure; /* borrowed; NULL: it is counted, or there is none of that handle */
    uint32_t seat;
} tm_interval_place;

struct tm_engine {
    tm_counting core;    /* first: a test looks at it */
    tm_holders *holders; /* borrowed */
    tm_interval_store store;
    tm_interval_ways ways;
    tm_intern names;           /* of axes: each holds its own */
    tm_intern types;           /* each structure but that of all others holds its own */
    tm_structure **structures; /* owned, and so is each; by id of the type, the one of all others at 0; NULL: none */
    tm_structure *pending;     /* the first structure with filters that are on their way out */
    tm_interval_place *places; /* owned; by handle */
    uint8_t *present;          /* owned scratch, by name: number of the message's attribute, from 1; else 0 */
    tm_survivor_room room;
    uint32_t structure_capacity;
    uint32_t place_capacity;
    uint32_t present_capacity;
    uint32_t seated; /* filters in structures */
};

int tm_interval_validate(const tm_engine *engine, const char **reason);

#endif
