/* engine.h - the engine `interval`: the centralised filter algorithm of paper 003 (DAS, PrimAS), section 4.1.
 *
 * Law: a filter that is intervals (draft.h) and within the limits of its structure (structure.h) is in that of its
 * type, or in the one of all others. Every other filter is counted by a core of the engine `counting`; none is in both.
 * One answer collects the results of all: the core is matched first, as it marks the interfaces that are not wanted.
 */
#ifndef TM_INTERVAL_ENGINE_H
#define TM_INTERVAL_ENGINE_H

#include "engines/interval/survivors.h"
#include "engines/papers/counting.h"

#define TM_SLICE_EDGES 4096U /* edges that one removal reads */

/* The seat of a filter. */
typedef struct tm_interval_place {
    tm_structure *structure; /* borrowed; NULL: it is counted, or the handle is free */
    uint32_t seat;
} tm_interval_place;

struct tm_engine {
    tm_counting core;    /* first: a test reads it */
    tm_holders *holders; /* borrowed */
    tm_interval_store store;
    tm_interval_ways ways;
    tm_intern names;           /* of axes: each has a reference to its own */
    tm_intern types;           /* each structure except that of all others has a reference to its own */
    tm_structure **structures; /* owned, and so is each; by id of the type, the one of all others at 0; NULL: none */
    tm_structure *pending;     /* the first structure with removed filters */
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
