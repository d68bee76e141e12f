/* points.c - the sorted list of points. Law: see points.h. */
#include <string.h>

#include "base/grow.h"
#include "covering/points.h"

static int compare(const tm_point *a, const tm_point *b) {
    if (a->place != b->place) {
        return a->place < b->place ? -1 : 1;
    }
    if (a->high != b->high) {
        return a->high < b->high ? -1 : 1;
    }
    if (a->low != b->low) {
        return a->low < b->low ? -1 : 1;
    }
    return (a->id > b->id) - (a->id < b->id);
}

/* ---- searches ---- */

/* Return the last chunk that does not begin above the point, or the first one. */
static uint32_t chunk_of(const tm_points *points, const tm_point *point) {
    uint32_t first = 0;
    uint32_t end = points->count;
    while (end - first > 1) {
        uint32_t middle = first + (end - first) / 2;
        bool is_above = compare(&points->chunks[middle].first, point) > 0;
        end = is_above ? middle : end;
        first = is_above ? first : middle;
    }
    return first;
}

static uint32_t place_in(const tm_chunk *chunk, const tm_point *point) {
    uint32_t first = 0;
    uint32_t end = chunk->count;
    while (first < end) {
        uint32_t middle = (first + end) / 2;
        bool is_below = compare(&chunk->points[middle], point) < 0;
        first = is_below ? middle + 1 : first;
        end = is_below ? end : middle;
    }
    return first;
}

tm_spot tm_points_seek(const tm_points *points, const tm_point *point) {
    if (points->count == 0) {
        return (tm_spot){0, 0};
    }
    uint32_t chunk = chunk_of(points, point);
    uint32_t at = place_in(&points->chunks[chunk], point);
    bool is_past = at == points->chunks[chunk].count;
    return (tm_spot){chunk + is_past, is_past ? 0 : at};
}

const tm_point *tm_points_at(const tm_points *points, tm_spot spot) {
    return spot.chunk < points->count ? &points->chunks[spot.chunk].points[spot.at] : NULL;
}

tm_spot tm_points_next(const tm_points *points, tm_spot spot) {
    bool is_last = spot.at + 1 == points->chunks[spot.chunk].count;
    return (tm_spot){spot.chunk + is_last, is_last ? 0 : spot.at + 1};
}

uint64_t tm_points_between(const tm_points *points, tm_spot from, tm_spot to) {
    if (to.chunk < from.chunk || (to.chunk == from.chunk && to.at <= from.at)) {
        return 0;
    }
    if (to.chunk == from.chunk) {
        return to.at - from.at;
    }
    uint64_t between = (uint64_t)(to.chunk - from.chunk - 1) * (POINTS_CHUNK / 2);
    return points->chunks[from.chunk].count - from.at + between + to.at;
}

/* ---- changes ---- */

/* Insert an empty chunk at `at`; false if out of memory, then nothing changed. */
static bool open_chunk(tm_points *points, uint32_t at) {
    if (!tm_grow(points->memory, TM_COLD, &points->chunks, sizeof *points->chunks, &points->capacity,
                 points->count + 1)) {
        return false;
    }
    tm_point *room = TM_NEW(points->memory, TM_COLD, tm_point, POINTS_CHUNK);
    if (room == NULL) {
        return false;
    }
    memmove(points->chunks + at + 1, points->chunks + at, sizeof *points->chunks * (points->count - at));
    points->chunks[at] = (tm_chunk){.points = room};
    points->count++;
    return true;
}

static void close_chunk(tm_points *points, uint32_t at) {
    TM_DELETE(points->memory, TM_COLD, points->chunks[at].points, tm_point, POINTS_CHUNK);
    points->count--;
    memmove(points->chunks + at, points->chunks + at + 1, sizeof *points->chunks * (points->count - at));
}

/* Move the upper half of a full chunk to a new one; false if out of memory. */
static bool split(tm_points *points, uint32_t at) {
    if (!open_chunk(points, at + 1)) {
        return false;
    }
    tm_chunk *lower = &points->chunks[at];
    tm_chunk *upper = lower + 1;
    upper->count = lower->count / 2;
    lower->count -= upper->count;
    memcpy(upper->points, lower->points + lower->count, sizeof *upper->points * upper->count);
    upper->first = upper->points[0];
    return true;
}

bool tm_points_add(tm_points *points, const tm_point *point) {
    if (points->count == 0 && !open_chunk(points, 0)) {
        return false;
    }
    uint32_t at = chunk_of(points, point);
    if (points->chunks[at].count == POINTS_CHUNK) {
        if (!split(points, at)) {
            return false;
        }
        at = chunk_of(points, point);
    }
    tm_chunk *chunk = &points->chunks[at];
    uint32_t place = place_in(chunk, point);
    memmove(chunk->points + place + 1, chunk->points + place, sizeof *point * (chunk->count - place));
    chunk->points[place] = *point;
    chunk->count++;
    chunk->first = chunk->points[0];
    return true;
}

/* Merge the chunk after `at` into the one at it, if both are small. */
static void merge(tm_points *points, uint32_t at) {
    if (at + 1 >= points->count || points->chunks[at].count + points->chunks[at + 1].count > POINTS_CHUNK / 2) {
        return;
    }
    tm_chunk *lower = &points->chunks[at];
    const tm_chunk *upper = lower + 1;
    memcpy(lower->points + lower->count, upper->points, sizeof *lower->points * upper->count);
    lower->count += upper->count;
    lower->first = lower->points[0];
    close_chunk(points, at + 1);
}

void tm_points_remove(tm_points *points, const tm_point *point) {
    uint32_t at = chunk_of(points, point);
    tm_chunk *chunk = &points->chunks[at];
    uint32_t place = place_in(chunk, point);
    chunk->count--;
    memmove(chunk->points + place, chunk->points + place + 1, sizeof *point * (chunk->count - place));
    if (chunk->count == 0) {
        close_chunk(points, at);
    } else {
        chunk->first = chunk->points[0];
    }
    merge(points, at);
    if (at > 0) {
        merge(points, at - 1);
    }
}

void tm_points_free(tm_points *points) {
    for (uint32_t i = 0; i < points->count; i++) {
        TM_DELETE(points->memory, TM_COLD, points->chunks[i].points, tm_point, POINTS_CHUNK);
    }
    TM_DELETE(points->memory, TM_COLD, points->chunks, tm_chunk, points->capacity);
}

bool tm_points_are_sound(const tm_points *points) {
    const tm_point *last = NULL;
    for (uint32_t i = 0; i < points->count; i++) {
        const tm_chunk *chunk = &points->chunks[i];
        bool is_crowded = i + 1 < points->count && chunk->count + chunk[1].count <= POINTS_CHUNK / 2;
        if (chunk->count == 0 || is_crowded || compare(&chunk->first, &chunk->points[0]) != 0) {
            return false;
        }
        for (uint32_t k = 0; k < chunk->count; k++) {
            if (last != NULL && compare(last, &chunk->points[k]) >= 0) {
                return false;
            }
            last = &chunk->points[k];
        }
    }
    return true;
}
