/* replay.c - history by predicate: what lies in the segments, looked at record by record.
 *
 * Law: a record is told once a walk: one that was copied forward is passed where the segment that it came from is still
 * there. Blocks are read a window at a time; nothing is believed without its checksum.
 */
#include <string.h>

#include "log/log.h"
#include "model/wire.h"

#define WINDOW_BYTES (1U << 20)

typedef struct walk {
    tm_store *store;
    tm_table *wanted; /* borrowed; NULL: everything */
    tm_log_replayed *replayed;
    uint64_t from;
    uint64_t records_max;
    uint8_t *out;
    size_t capacity;
    size_t size;
    uint8_t *window; /* owned */
    size_t window_bytes;
    bool is_over; /* `out` is full, or enough was looked at */
} walk;

/* ---- one record ---- */

static bool is_wanted(walk *w, const tm_log_record *record) {
    tm_attribute attributes[TM_ATTRIBUTES_MAX];
    const uint8_t *frame = tm_record_body(record);
    size_t count;
    size_t used;
    if (w->wanted == NULL) {
        return true;
    }
    if (record->body_size < WIRE_HEADER_BYTES) {
        return false;
    }
    uint64_t at = WIRE_HEADER_BYTES + (uint64_t)tm_load16(frame + WIRE_EXTENSION_SIZE);
    uint64_t bytes = tm_load32(frame + WIRE_ATTRIBUTE_SIZE);
    if (at + bytes > record->body_size || tm_attributes_decode(frame + at, bytes, attributes, &count, &used) != TM_OK) {
        return false;
    }
    uint64_t bits = 0;
    tm_query query = {.group_count = 1};
    tm_hits hits = {.bits = &bits};
    return tm_table_match(w->wanted, attributes, count, &query, &hits) == TM_OK && bits != 0;
}

/* Does the segment that a copy came from still hold it? */
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

/* false: `out` has no room for it. */
static bool look_at(walk *w, const tm_log_record *record) {
    w->replayed->looked_at++;
    bool is_message = record->kind == TM_LOG_MESSAGE || record->kind >= TM_LOG_OTHER;
    if (!is_message || record->n < w->from || !is_wanted(w, record) ||
        ((record->flags & TM_LOG_COPIED) && has_original(w, record->n))) {
        return true;
    }
    if (record->size > w->capacity - w->size) {
        return false;
    }
    memcpy(w->out + w->size, record, record->size);
    w->size += record->size;
    return true;
}

/* ---- batches ---- */

/* The records of a batch in the window, from `skip` bytes on. Returns how many bytes were dealt with. */
static uint32_t look_at_batch(walk *w, const tm_batch_head *head, uint32_t skip, uint32_t salt) {
    const uint8_t *records = (const uint8_t *)(head + 1);
    uint32_t at = skip;
    while (at < head->bytes && tm_record_is_sound(salt, records + at, head->bytes - at)) {
        const tm_log_record *record = (const tm_log_record *)(records + at);
        if (w->replayed->looked_at == w->records_max || !look_at(w, record)) {
            w->is_over = true;
            return at;
        }
        at += record->size;
    }
    return head->bytes; /* what is not sound, the scrubber tells */
}

/* Make the window hold `bytes` of the segment from `at` on. */
static int fill(walk *w, const tm_segment *segment, uint64_t at, size_t bytes) {
    if (bytes > w->window_bytes) {
        pthread_mutex_lock(&w->store->state);
        TM_DELETE(&w->store->memory, TM_COLD, w->window, uint8_t, w->window_bytes);
        w->window = TM_NEW(&w->store->memory, TM_COLD, uint8_t, bytes);
        w->window_bytes = w->window != NULL ? bytes : 0;
        pthread_mutex_unlock(&w->store->state);
        if (w->window == NULL) {
            return TM_NO_MEMORY;
        }
    }
    return tm_disk_read_whole(w->store->disk, segment->file, w->window, bytes, at) == 0 ? TM_OK : TM_LOG_DISK;
}

static size_t window_for(uint64_t left) {
    return left < WINDOW_BYTES ? (size_t)left : WINDOW_BYTES;
}

/* A segment from where the walk is; `end` is where its batches end. */
static int walk_segment(walk *w, const tm_segment *segment, uint64_t end, tm_log_place *place) {
    uint32_t salt = tm_salt(segment->serial);
    uint64_t start = place->at;
    size_t held = 0;
    while (!w->is_over && place->at + sizeof(tm_batch_head) <= end) {
        if (held == 0 || place->at + sizeof(tm_batch_head) > start + held) {
            start = place->at;
            held = window_for(end - start);
            int result = fill(w, segment, start, held);
            if (result != TM_OK) {
                return result;
            }
        }
        const tm_batch_head *head = (const tm_batch_head *)(w->window + (place->at - start));
        if (!tm_batch_head_is_sound(head, segment->serial, end - place->at)) {
            place->at += SECTOR_BYTES;
            continue;
        }
        size_t whole = sizeof *head + head->bytes;
        if (place->at + whole > start + held) {
            start = place->at;
            held = whole > window_for(end - start) ? whole : window_for(end - start);
            int result = fill(w, segment, start, held);
            if (result != TM_OK) {
                return result;
            }
            head = (const tm_batch_head *)w->window;
        }
        place->skip = look_at_batch(w, head, place->skip, salt);
        if (place->skip == head->bytes) {
            place->at += tm_sectors(whole);
            place->skip = 0;
        }
    }
    return TM_OK;
}

/* The segment that a place is in, or the next one, pinned; NULL: there is none. */
static tm_segment *pin_next(walk *w, tm_log_place *place, uint64_t *end) {
    tm_segment *next = NULL;
    pthread_mutex_lock(&w->store->state);
    for (uint32_t i = 0; i < w->store->segment_count && next == NULL; i++) {
        tm_segment *segment = w->store->segments[i];
        if (segment->serial >= place->serial && segment->last_n >= w->from && !segment->is_leaving) {
            next = segment;
            next->pins++;
            *end = segment->used;
        }
    }
    pthread_mutex_unlock(&w->store->state);
    if (next != NULL && next->serial != place->serial) {
        *place = (tm_log_place){.serial = next->serial, .at = SEGMENT_HEAD_BYTES};
    }
    return next;
}

int tm_log_replay(tm_log *log, tm_table *wanted, uint64_t from, uint64_t records_max, tm_log_place *place, void *out,
                  size_t capacity, size_t *size, tm_log_replayed *replayed) {
    walk w = {.store = log->store,
              .wanted = wanted,
              .replayed = replayed,
              .from = from,
              .records_max = records_max,
              .out = out,
              .capacity = capacity};
    *replayed = (tm_log_replayed){0};
    int result = TM_OK;
    while (result == TM_OK && !w.is_over) {
        uint64_t end;
        tm_segment *segment = pin_next(&w, place, &end);
        if (segment == NULL) {
            replayed->is_all = 1;
            break;
        }
        uint64_t serial = segment->serial;
        result = walk_segment(&w, segment, end, place);
        pthread_mutex_lock(&w.store->state);
        segment->pins--;
        bool is_open = segment->state == SEGMENT_OPEN;
        pthread_mutex_unlock(&w.store->state);
        if (is_open && !w.is_over) { /* what is written next comes behind this place */
            replayed->is_all = 1;
            break;
        }
        if (!w.is_over) {
            *place = (tm_log_place){.serial = serial + 1, .at = SEGMENT_HEAD_BYTES};
        }
    }
    *size = w.size;
    pthread_mutex_lock(&w.store->state);
    TM_DELETE(&w.store->memory, TM_COLD, w.window, uint8_t, w.window_bytes);
    pthread_mutex_unlock(&w.store->state);
    return result;
}
