/* points.h - the witnesses of filters: a sorted list of (name, value, filter).
 *
 * Law: a point is there once. Chunks of up to POINTS_CHUNK points are in order, and two neighbours together have more
 * than half of one, so that the list takes at most four times what its points take; an update moves at most a chunk and
 * the list of chunks.
 */
#ifndef TM_POINTS_H
#define TM_POINTS_H

#include "base/memory.h"
#include "tm.h"

#define POINTS_CHUNK 256U

/* A name and a domain (`place`), a value as two words that order as values do, and the filter. */
typedef struct tm_point {
    uint64_t place;
    uint64_t high;
    uint64_t low;
    uint64_t id;
} tm_point;

typedef struct tm_chunk {
    tm_point *points; /* owned; room for POINTS_CHUNK */
    tm_point first;
    uint32_t count;
} tm_chunk;

typedef struct tm_points {
    tm_memory *memory; /* borrowed */
    tm_chunk *chunks;  /* owned, and their points; none is empty */
    uint32_t count;
    uint32_t capacity;
} tm_points;

/* A place in the list; valid until the list changes. */
typedef struct tm_spot {
    uint32_t chunk;
    uint32_t at;
} tm_spot;

void tm_points_free(tm_points *points);
/* Add a point that is not there; false if out of memory, then nothing changed. */
bool tm_points_add(tm_points *points, const tm_point *point);
/* Remove a point that is there. */
void tm_points_remove(tm_points *points, const tm_point *point);

/* Return the spot of the first point that is not below `point`. */
tm_spot tm_points_seek(const tm_points *points, const tm_point *point);
/* Return the point of a spot, or NULL past the end. */
const tm_point *tm_points_at(const tm_points *points, tm_spot spot);
/* Return the spot after one that has a point. */
tm_spot tm_points_next(const tm_points *points, tm_spot spot);
/* Return about how many points are between two spots: exact within a chunk. */
uint64_t tm_points_between(const tm_points *points, tm_spot from, tm_spot to);

bool tm_points_are_sound(const tm_points *points);

#endif
