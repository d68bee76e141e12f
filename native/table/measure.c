/* measure.c - the duration of a match, measured without any other work.
 *
 * Law: every message is decoded before the first clock is read; one pass warms the caches; then each match is timed by
 * itself, and all of them once more without a clock between. The results are summed, so no match can be optimised away.
 */
#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"
#include "tm.h"

#define BITS_LINKS_MAX                                                                                                 \
    512 /* up to this many groups a router requests the answer as a bitset, so that is the form that is timed */

typedef struct measured {
    tm_attribute *attributes; /* of all messages, one after the other */
    uint64_t *starts;         /* message i: attributes[starts[i] .. starts[i + 1]) */
    size_t attribute_capacity;
    size_t count;
    tm_hits hits;
    tm_memory memory;
    uint64_t bits[BITS_LINKS_MAX / 64];
} measured;

/* Mix a pair into one number, for a sum that does not depend on the order of pairs. */
static uint64_t mix(uint64_t a, uint64_t b) {
    return tm_fold(a ^ 0x9e3779b97f4a7c15U, b ^ 0xe7037ed1a0b428dbU);
}

static bool reserve_attributes(measured *work, size_t wanted) {
    if (wanted <= work->attribute_capacity) {
        return true;
    }
    size_t room = wanted + wanted / 2;
    tm_attribute *longer =
        TM_RESIZE(&work->memory, TM_COLD, work->attributes, tm_attribute, work->attribute_capacity, room);
    if (longer != NULL) {
        work->attributes = longer;
        work->attribute_capacity = room;
    }
    return longer != NULL;
}

static int decode_all(measured *work, const uint8_t *bytes, const uint64_t *offsets) {
    size_t total = 0;
    for (size_t i = 0; i < work->count; i++) {
        size_t count = 0;
        size_t used = 0;
        if (!reserve_attributes(work, total + TM_ATTRIBUTES_MAX)) {
            return TM_NO_MEMORY;
        }
        size_t size = offsets[i + 1] - offsets[i];
        int result = tm_attributes_decode(bytes + offsets[i], size, work->attributes + total, &count, &used);
        if (result != TM_OK || used != size) {
            return result != TM_OK ? result : TM_MALFORMED;
        }
        total += count;
        work->starts[i + 1] = total;
    }
    return TM_OK;
}

static int match_one(tm_table *table, measured *work, const tm_query *query, size_t i) {
    return tm_table_match(table, work->attributes + work->starts[i], work->starts[i + 1] - work->starts[i], query,
                          &work->hits);
}

static void forget_rows(measured *work) {
    TM_DELETE(&work->memory, TM_COLD, work->hits.groups, uint32_t, work->hits.capacity);
    TM_DELETE(&work->memory, TM_COLD, work->hits.handles, uint32_t, work->hits.capacity);
}

/* Make room for an answer of `rows`; the old contents are lost. */
static bool reserve_rows(measured *work, size_t rows, bool with_handles) {
    forget_rows(work);
    work->hits = (tm_hits){.capacity = rows, .groups = TM_NEW(&work->memory, TM_COLD, uint32_t, rows)};
    if (with_handles) {
        work->hits.handles = TM_NEW(&work->memory, TM_COLD, uint32_t, rows);
    }
    return work->hits.groups != NULL && (work->hits.handles != NULL) == with_handles;
}

/* The first pass: warm the caches, make room for the largest answer, and sum the results. */
static int warm_up(tm_table *table, measured *work, const tm_query *query, uint64_t *matched, uint64_t *checksum) {
    for (size_t i = 0; i < work->count; i++) {
        int result = match_one(table, work, query, i);
        if (result == TM_TOO_MANY) {
            if (!reserve_rows(work, work->hits.count, query->mode != TM_MATCH_INTERFACES)) {
                return TM_NO_MEMORY;
            }
            result = match_one(table, work, query, i);
        }
        if (result != TM_OK) {
            return result;
        }
        *matched += work->hits.count;
        for (size_t row = 0; row < work->hits.count; row++) {
            *checksum += mix(i, work->hits.groups[row]);
        }
    }
    return TM_OK;
}

static uint32_t clamp_ns(uint64_t ns) {
    return ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
}

static void time_each(tm_table *table, measured *work, const tm_query *query, uint32_t *nanoseconds) {
    for (size_t i = 0; i < work->count; i++) {
        uint64_t start = tm_clock_ns();
        match_one(table, work, query, i);
        nanoseconds[i] = clamp_ns(tm_clock_ns() - start);
    }
}

static uint64_t time_all(tm_table *table, measured *work, const tm_query *query) {
    uint64_t start = tm_clock_ns();
    for (size_t i = 0; i < work->count; i++) {
        match_one(table, work, query, i);
    }
    return tm_clock_ns() - start;
}

static void forget(measured *work) {
    TM_DELETE(&work->memory, TM_COLD, work->attributes, tm_attribute, work->attribute_capacity);
    TM_DELETE(&work->memory, TM_COLD, work->starts, uint64_t, work->count + 1);
    forget_rows(work);
}

static int prepare(measured *work, const uint8_t *bytes, const uint64_t *offsets, const tm_query *query) {
    work->starts = TM_NEW(&work->memory, TM_COLD, uint64_t, work->count + 1);
    size_t rows = query->group_count > 0 ? query->group_count : 1;
    if (work->starts == NULL || !reserve_rows(work, rows, query->mode != TM_MATCH_INTERFACES)) {
        return TM_NO_MEMORY;
    }
    return decode_all(work, bytes, offsets);
}

int tm_table_measure(tm_table *table, const uint8_t *bytes, const uint64_t *offsets, size_t count,
                     const tm_query *query, uint32_t *nanoseconds, uint64_t *total_ns, uint64_t *matched,
                     uint64_t *checksum) {
    if (table == NULL || bytes == NULL || offsets == NULL || query == NULL || nanoseconds == NULL || total_ns == NULL ||
        matched == NULL || checksum == NULL) {
        return TM_MISUSED;
    }
    measured work = {.count = count};
    *matched = 0;
    *checksum = 0;
    int result = prepare(&work, bytes, offsets, query);
    if (result == TM_OK) {
        result = warm_up(table, &work, query, matched, checksum);
    }
    if (result == TM_OK && query->mode == TM_MATCH_INTERFACES && query->group_count <= BITS_LINKS_MAX) {
        forget_rows(&work);
        work.hits = (tm_hits){.bits = work.bits};
    }
    if (result == TM_OK) {
        time_each(table, &work, query, nanoseconds);
        *total_ns = time_all(table, &work, query);
    }
    forget(&work);
    return result;
}
