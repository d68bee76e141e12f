/* replay.c - history by predicate: a walk over the records in the segments.
 *
 * Law: a walk returns a record once: one that was copied is skipped while the segment of its original exists. Files are
 * read a window at a time, small enough for the cache of the processor whatever the size of batches; nothing is used
 * without its checksum. Messages are decoded by the shape of an earlier one that began alike, while most have its
 * names.
 */
#include <string.h>

#include "base/tested.h"
#include "log/log.h"
#include "model/shape.h"
#include "model/wire.h"
#include "tm_residual_api.h"

#define WINDOW_BYTES (256U << 10)
#define SHAPES_BITS 2U      /* of the number of shapes */
#define VIOLATIONS_FREE 64U /* messages whose names differ from those of the shape, before their share counts: */
#define VIOLATIONS_OF 8U    /* if one in this many differs, shapes cost more than they save */

typedef struct walk {
    tm_store *store;
    tm_table *wanted; /* borrowed; NULL: everything matches */
    tm_log_replayed *replayed;
    tm_log_reach reach;
    uint64_t records_max;
    uint8_t *out;
    size_t capacity;
    size_t size;
    uint64_t found;
    tm_shape shapes[1U << SHAPES_BITS];
    uint64_t fits;
    uint64_t violations;
    uint8_t *window; /* owned, followed by TM_SHAPE_SLACK */
    size_t window_bytes;
    const tm_segment *segment; /* pinned: the current one */
    uint64_t end;              /* of its batches */
    uint64_t held_at;          /* the part of it in the window */
    uint64_t held_end;
    bool is_over; /* `out` is full, or enough was found or examined */
} walk;

/* ---- one record ---- */

/* Return the attributes of a message, in its frame; NULL: it has none. */
static const uint8_t *attributes_of(const tm_log_record *record, size_t *size) {
    const uint8_t *frame = tm_record_body(record);
    if (record->body_size < WIRE_HEADER_BYTES) {
        return NULL;
    }
    uint64_t at = WIRE_HEADER_BYTES + (uint64_t)tm_load16(frame + WIRE_EXTENSION_SIZE);
    *size = tm_load32(frame + WIRE_ATTRIBUTE_SIZE);
    return at + *size <= record->body_size ? frame + at : NULL;
}

static bool match(tm_table *wanted, const tm_attribute *attributes, size_t count, uint64_t *memo) {
    uint64_t bits = 0;
    tm_query query = {.group_count = 1, .memo = memo};
    tm_hits hits = {.bits = &bits};
    return tm_table_match(wanted, attributes, count, &query, &hits) == TM_OK && bits != 0;
}

static bool passes(const uint8_t *program, const tm_attribute *attributes, size_t count) {
    uint64_t steps;
    return program == NULL ||
           tm_residual_run(program, attributes, count, TM_MATCH_STEPS / TM_RESIDUAL_PARTS, &steps) == TM_RESIDUAL_TRUE;
}

bool tm_log_matches(tm_table *wanted, const uint8_t *program, const tm_log_record *record) {
    tm_attribute attributes[TM_ATTRIBUTES_MAX];
    size_t size;
    const uint8_t *bytes = attributes_of(record, &size);
    size_t count;
    size_t used;
    return bytes != NULL && tm_attributes_decode(bytes, size, attributes, &count, &used) == TM_OK && used == size &&
           match(wanted, attributes, count, NULL) && passes(program, attributes, count);
}

static void begin_shapes(walk *w) {
    uint64_t unknown[SHAPE_TABLES];
    for (unsigned table = 1; table < SHAPE_TABLES; table++) {
        unknown[table] = SHAPE_NO_TABLE;
    }
    unknown[0] = tm_table_unknown(w->wanted);
    for (uint32_t i = 0; i < 1U << SHAPES_BITS; i++) {
        tm_shape_want_all(&w->shapes[i], unknown);
    }
}

/* Return the shape for the number of attributes and the first seven bytes of the first; there is slack behind them. */
static tm_shape *shape_of(walk *w, const uint8_t *bytes) {
    return &w->shapes[tm_load64(bytes) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SHAPES_BITS)];
}

/* As tm_log_matches, for a record in the window. */
static bool matches(walk *w, const tm_log_record *record) {
    tm_attribute attributes[TM_ATTRIBUTES_MAX];
    if (w->violations > VIOLATIONS_FREE && w->violations > w->fits / VIOLATIONS_OF) {
        return tm_log_matches(w->wanted, w->reach.program, record);
    }
    size_t size;
    const uint8_t *bytes = attributes_of(record, &size);
    if (bytes == NULL) {
        return false;
    }
    tm_shape *shape = shape_of(w, bytes);
    uint64_t version = shape->version;
    size_t count;
    int result = tm_shape_decode(shape, bytes, size, attributes, &count);
    bool is_fit = shape->version == version;
    w->fits += is_fit;
    w->violations += !is_fit;
    if (result != TM_OK) {
        return false;
    }
    bool matched = match(w->wanted, attributes, count, shape->memo[0]) && passes(w->reach.program, attributes, count);
    if (!shape->is_trimmed && w->reach.program == NULL) { /* a program may ask for any attribute */
        tm_shape_note_asked(shape, 0);
        tm_shape_trim(shape, NULL, NULL);
    }
    return matched;
}

/* true if the segment of the original of a copy still exists. */
static bool has_original(walk *w, uint64_t n) {
    bool has = false;
    pthread_mutex_lock(&w->store->state);
    for (uint32_t i = 0; i < w->store->segment_count; i++) {
        const tm_segment *segment = w->store->segments[i];
        has = has || (!segment->is_leaving && segment->first_n <= n && n <= segment->last_fresh_n);
    }
    pthread_mutex_unlock(&w->store->state);
    return has;
}

static bool is_in_reach(const walk *w, const tm_log_record *record) {
    bool is_message = record->kind == TM_LOG_MESSAGE || record->kind >= TM_LOG_OTHER ||
                      (TM_BREAKS(SEED_TWICE) && record->kind == TM_LOG_SEED);
    return is_message && record->n >= w->reach.from && record->t_us >= w->reach.since_us &&
           record->t_us <= w->reach.until_us;
}

/* Examine a record; false: `out` has no room for it, or has `found_max` messages. */
static bool look_at(walk *w, const tm_log_record *record) {
    w->replayed->looked_at++;
    if (!is_in_reach(w, record) || (w->wanted != NULL && !matches(w, record)) ||
        ((record->flags & TM_LOG_COPIED) && has_original(w, record->n))) {
        return true;
    }
    bool is_enough = w->reach.found_max > 0 && w->found == w->reach.found_max;
    if (is_enough || record->size > w->capacity - w->size) {
        return false;
    }
    memcpy(w->out + w->size, record, record->size);
    w->size += record->size;
    w->found++;
    return true;
}

/* ---- the window ---- */

static void free_window(walk *w) {
    TM_DELETE(&w->store->memory, TM_COLD, w->window, uint8_t, w->window != NULL ? w->window_bytes + TM_SHAPE_SLACK : 0);
}

static int make_window(walk *w, size_t bytes) {
    pthread_mutex_lock(&w->store->state);
    free_window(w);
    w->window = TM_NEW(&w->store->memory, TM_COLD, uint8_t, bytes + TM_SHAPE_SLACK);
    w->window_bytes = w->window != NULL ? bytes : 0;
    pthread_mutex_unlock(&w->store->state);
    return w->window != NULL ? TM_OK : TM_NO_MEMORY;
}

/* Return `bytes` of the segment from `at` on, and what follows in the window; NULL: `*result` is the reason. */
static const uint8_t *show(walk *w, uint64_t at, size_t bytes, int *result) {
    if (at >= w->held_at && at + bytes <= w->held_end) {
        return w->window + (at - w->held_at);
    }
    w->held_end = 0;
    if (bytes > w->window_bytes) {
        *result = make_window(w, bytes > WINDOW_BYTES ? bytes : WINDOW_BYTES);
        if (*result != TM_OK) {
            return NULL;
        }
    }
    uint64_t size = w->end - at < w->window_bytes ? w->end - at : w->window_bytes;
    if (tm_disk_read_whole(w->store->disk, w->segment->file, w->window, size, at) != 0) {
        *result = TM_LOG_DISK;
        return NULL;
    }
    w->held_at = at;
    w->held_end = at + size;
    return w->window;
}

/* ---- batches ---- */

/* Examine the records of a batch, which begin at `start` and have `bytes` in all, from `*skip` bytes on, which
 * moves. */
static int look_at_batch(walk *w, uint64_t start, uint32_t bytes, uint32_t salt, uint32_t *skip) {
    int result = TM_OK;
    while (*skip < bytes) {
        const uint8_t *at = show(w, start + *skip, sizeof(tm_log_record), &result);
        uint32_t left = bytes - *skip;
        if (at == NULL) {
            return result;
        }
        uint32_t size = ((const tm_log_record *)at)->size;
        if (left < sizeof(tm_log_record) || size > left || size < sizeof(tm_log_record)) {
            break;
        }
        at = show(w, start + *skip, size, &result);
        if (at == NULL) {
            return result;
        }
        if (!tm_record_is_sound(salt, at, size)) {
            break;
        }
        if (w->replayed->looked_at == w->records_max || !look_at(w, (const tm_log_record *)at)) {
            w->is_over = true;
            return TM_OK;
        }
        *skip += size;
    }
    *skip = bytes; /* the scrubber reports what is not sound */
    return TM_OK;
}

/* Walk the segment from the place on. */
static int walk_segment(walk *w, tm_log_place *place) {
    uint32_t salt = tm_salt(w->segment->serial);
    int result = TM_OK;
    w->held_end = 0;
    while (!w->is_over && place->at + sizeof(tm_batch_head) <= w->end) {
        const uint8_t *at = show(w, place->at, sizeof(tm_batch_head), &result);
        if (at == NULL) {
            return result;
        }
        const tm_batch_head *head = (const tm_batch_head *)at;
        if (!tm_batch_head_is_sound(head, w->segment->serial, w->end - place->at)) {
            place->at += SECTOR_BYTES;
            continue;
        }
        uint32_t bytes = head->bytes;
        result = look_at_batch(w, place->at + sizeof *head, bytes, salt, &place->skip);
        if (result != TM_OK) {
            return result;
        }
        if (place->skip == bytes) {
            place->at += tm_sectors(sizeof *head + bytes);
            place->skip = 0;
        }
    }
    return TM_OK;
}

/* true if a segment may hold a record within reach. */
static bool is_worth_a_walk(const walk *w, const tm_segment *segment) {
    return segment->last_n >= w->reach.from && segment->most_us >= w->reach.since_us &&
           segment->least_us <= w->reach.until_us && !segment->is_leaving;
}

/* Return the segment of a place, or the next one worth a walk, pinned; NULL: there is none. */
static tm_segment *pin_next(walk *w, tm_log_place *place) {
    tm_segment *next = NULL;
    pthread_mutex_lock(&w->store->state);
    for (uint32_t i = 0; i < w->store->segment_count && next == NULL; i++) {
        tm_segment *segment = w->store->segments[i];
        if (segment->serial >= place->serial && is_worth_a_walk(w, segment)) {
            next = segment;
            next->pins++;
            w->end = segment->used;
        }
    }
    pthread_mutex_unlock(&w->store->state);
    if (next != NULL && next->serial != place->serial) {
        *place = (tm_log_place){.serial = next->serial, .at = SEGMENT_HEAD_BYTES};
    }
    return next;
}

int tm_log_replay(tm_log *log, tm_table *wanted, const tm_log_reach *reach, uint64_t records_max, tm_log_place *place,
                  void *out, size_t capacity, size_t *size, tm_log_replayed *replayed) {
    walk w = {.store = log->store,
              .wanted = wanted,
              .replayed = replayed,
              .reach = reach != NULL ? *reach : (tm_log_reach){.until_us = UINT64_MAX},
              .records_max = records_max,
              .out = out,
              .capacity = capacity};
    *replayed = (tm_log_replayed){0};
    int result = TM_OK;
    if (wanted != NULL) {
        begin_shapes(&w);
    }
    while (result == TM_OK && !w.is_over) {
        tm_segment *segment = pin_next(&w, place);
        if (segment == NULL) {
            replayed->is_all = 1;
            break;
        }
        uint64_t serial = segment->serial;
        w.segment = segment;
        result = walk_segment(&w, place);
        pthread_mutex_lock(&w.store->state);
        segment->pins--;
        bool is_open = segment->state == SEGMENT_OPEN;
        bool has_more = segment->used > w.end; /* it was sealed since, after more was written into it */
        pthread_mutex_unlock(&w.store->state);
        if (is_open && !w.is_over) { /* later records are written behind this place */
            replayed->is_all = 1;
            break;
        }
        if (!w.is_over && !has_more) {
            *place = (tm_log_place){.serial = serial + 1, .at = SEGMENT_HEAD_BYTES};
        }
    }
    *size = w.size;
    pthread_mutex_lock(&w.store->state);
    free_window(&w);
    pthread_mutex_unlock(&w.store->state);
    return result;
}

int tm_log_find(tm_log *log, uint64_t origin, uint64_t counter, uint64_t records_max, tm_log_place *place, void *bytes,
                size_t capacity, uint64_t *n, tm_log_replayed *replayed) {
    size_t size = 0;
    *n = 0;
    int result = tm_log_replay(log, NULL, NULL, records_max, place, bytes, capacity, &size, replayed);
    for (size_t at = 0; result == TM_OK && at < size && *n == 0;) {
        const tm_log_record *record = (const tm_log_record *)((uint8_t *)bytes + at);
        const uint8_t *frame = tm_record_body(record);
        bool is_it = record->kind == TM_LOG_MESSAGE && record->body_size >= WIRE_HEADER_BYTES &&
                     tm_load64(frame + WIRE_ORIGIN) == origin && tm_load64(frame + WIRE_COUNTER) == counter;
        *n = is_it ? record->n : 0;
        at += record->size;
    }
    return result;
}

uint64_t tm_log_tail(tm_log *log, uint64_t records, uint64_t bytes) {
    const tm_store *store = log->store;
    uint64_t from = 0;
    pthread_mutex_lock(&log->store->state);
    for (uint32_t i = store->segment_count; i > 0 && from == 0; i--) {
        const tm_segment *segment = store->segments[i - 1];
        if (segment->last_fresh_n == 0) {
            continue;
        }
        if (records == 0 || bytes == 0) {
            from = segment->last_fresh_n + 1;
            continue;
        }
        uint64_t count = segment->used / sizeof(tm_log_record); /* at most */
        bool is_one_life = segment->last_fresh_n - segment->first_n < count;
        count = is_one_life ? segment->last_fresh_n - segment->first_n + 1 : count;
        records -= count < records ? count : records;
        bytes -= segment->used < bytes ? segment->used : bytes;
    }
    pthread_mutex_unlock(&log->store->state);
    return from;
}
