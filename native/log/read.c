/* read.c - the records of a holder, from the files.
 *
 * Law: records come in the order of their numbers, each once even if copies of it exist; one that cannot be read is
 * reported as missing and skipped. No lock is held while a file is read. Where records lie close together, files are
 * read a window at a time; a record that is not sound in the window is read again by itself, as it may have been
 * written since.
 */
#include <stdlib.h>
#include <string.h>

#include "log/cursor.h"
#include "log/read.h"
#include "log/recover.h"

#ifdef TM_TESTED
#define PINNED_MAX 2U /* few, so that a test has more */
#else
#define PINNED_MAX 16U /* rows of one call that begin behind its position; it ends when it has seen that many */
#endif
#ifdef TM_TESTED
#define WINDOW_BYTES 4096U /* less than the segments of tests, so that it slides in them */
#else
#define WINDOW_BYTES (256U << 10) /* read at once */
#endif
#define GAP_BYTES 8192U /* between records that one window spans */

bool tm_store_is_open(const tm_store *store, uint64_t holder, tm_role role, uint64_t n) {
    const tm_log_holder *known = tm_log_holders_find(&store->holders, holder, role);
    return known != NULL && !tm_log_holders_is_done(known, n);
}

int tm_store_fetch(tm_store *store, const tm_segment *segment, uint32_t place, uint64_t n, uint8_t *out,
                   size_t capacity, size_t *size) {
    tm_log_record head;
    uint64_t at = (uint64_t)place * 8;
    if (at + sizeof head > segment->bytes ||
        tm_disk_read_whole(store->disk, segment->file, &head, sizeof head, at) != 0 || head.n != n ||
        head.size > segment->bytes - at || head.size < sizeof head) {
        return TM_LOG_DISK;
    }
    *size = head.size;
    if (head.size > capacity) {
        return TM_TOO_MANY;
    }
    bool is_read = tm_disk_read_whole(store->disk, segment->file, out, head.size, at) == 0;
    return is_read && tm_record_is_sound(tm_salt(segment->serial), out, head.size) ? TM_OK : TM_LOG_DISK;
}

typedef struct reading {
    tm_store *store;
    tm_claim of;
    tm_row_cursor *cursors; /* owned */
    uint32_t capacity;
    uint32_t count;
    uint64_t end_n;            /* numbers past it are in rows that were not examined */
    uint8_t *window;           /* owned */
    const tm_segment *segment; /* that the window shows; NULL: none */
    uint64_t window_at;
    uint64_t window_end;
} reading;

/* ---- rows ---- */

/* Add a row to the reading; if there are too many, those with the least numbers are kept. */
static void hold(reading *r, tm_segment *segment, const tm_row *row) {
    tm_row_cursor found = {.segment = segment, .row = *row};
    if (r->count < r->capacity) {
        r->cursors[r->count++] = found;
        return;
    }
    uint32_t worst = 0;
    for (uint32_t i = 1; i < r->count; i++) {
        worst = tm_row_cursor_n(&r->cursors[i], 0) > tm_row_cursor_n(&r->cursors[worst], 0) ? i : worst;
    }
    uint64_t out = tm_row_cursor_n(&r->cursors[worst], 0);
    uint64_t in = tm_row_cursor_n(&found, 0);
    if (in < out) {
        r->cursors[worst] = found;
    }
    uint64_t left_out = in < out ? out : in;
    r->end_n = left_out < r->end_n ? left_out : r->end_n;
}

/* A walk over the rows of the holder that may have numbers past `after`. */
typedef struct row_search {
    tm_row_walk walk;
    uint32_t place; /* of the next segment */
    tm_segment *segment;
} row_search;

static const tm_row *next_row(const reading *r, row_search *search, uint64_t after) {
    tm_store *store = r->store;
    for (;;) {
        const tm_row *row = search->segment != NULL ? tm_segment_next_row(&search->walk) : NULL;
        if (row != NULL && tm_row_n(row, row->low_max) > after) {
            return row;
        }
        while (row == NULL && search->place < store->segment_count && store->segments[search->place]->is_leaving) {
            search->place++;
        }
        if (row == NULL && search->place == store->segment_count) {
            return NULL;
        }
        if (row == NULL) {
            search->segment = store->segments[search->place++];
            search->walk = tm_segment_rows_of(search->segment, r->of);
        }
    }
}

/* Pin the rows of the holder that may have numbers past `after`. false: no memory. Rows that begin at the next number
 * or before it are held however many there are: a call without one of them could end where it began. */
static bool pin(reading *r, uint64_t after) {
    uint32_t capacity = PINNED_MAX;
    const tm_row *row;
    row_search search = {0};
    while ((row = next_row(r, &search, after)) != NULL) {
        capacity += tm_row_n(row, row->low_min) <= after + 1;
    }
    r->cursors = TM_NEW(&r->store->memory, TM_COLD, tm_row_cursor, capacity);
    if (r->cursors == NULL) {
        return false;
    }
    r->capacity = capacity;
    search = (row_search){0};
    while ((row = next_row(r, &search, after)) != NULL) {
        hold(r, search.segment, row);
    }
    for (uint32_t i = 0; i < r->count; i++) {
        r->cursors[i].segment->pins++;
    }
    return true;
}

/* TM_OK or TM_NO_MEMORY. */
static int begin(reading *r, uint64_t after) {
    pthread_mutex_lock(&r->store->state);
    const tm_log_holder *known = tm_log_holders_find(&r->store->holders, r->of.holder, r->of.role);
    bool has_memory = known == NULL || pin(r, known->done > after ? known->done : after);
    pthread_mutex_unlock(&r->store->state);
    return has_memory ? TM_OK : TM_NO_MEMORY;
}

static void end(reading *r) {
    pthread_mutex_lock(&r->store->state);
    for (uint32_t i = 0; i < r->count; i++) {
        r->cursors[i].segment->pins--;
        tm_row_cursor_free(r->store, &r->cursors[i]);
    }
    TM_DELETE(&r->store->memory, TM_COLD, r->cursors, tm_row_cursor, r->capacity);
    TM_DELETE(&r->store->memory, TM_COLD, r->window, uint8_t, r->window != NULL ? WINDOW_BYTES : 0);
    pthread_mutex_unlock(&r->store->state);
}

/* Drop a row whose entries cannot be read; the scrubber reports the numbers lost with it. */
static void give_up(reading *r, tm_row_cursor *cursor) {
    pthread_mutex_lock(&r->store->state);
    r->store->damaged += !cursor->segment->is_damaged;
    cursor->segment->is_damaged = true;
    cursor->segment->pins--;
    tm_row_cursor_free(r->store, cursor);
    pthread_mutex_unlock(&r->store->state);
    *cursor = r->cursors[--r->count];
}

/* Find the least number past `after` in the rows; UINT64_MAX: none. */
static int next_number(reading *r, uint64_t after, uint64_t *least) {
    for (;;) {
        tm_row_cursor *dry = NULL;
        *least = UINT64_MAX;
        for (uint32_t i = 0; i < r->count; i++) {
            tm_row_cursor *cursor = &r->cursors[i];
            uint64_t n = tm_row_cursor_n(cursor, after);
            bool is_dry = tm_row_cursor_is_dry(cursor);
            if (n < *least || (n == *least && is_dry)) { /* a dry cursor that may have this number is filled first */
                *least = n;
                dry = is_dry ? cursor : NULL;
            }
        }
        if (dry == NULL) {
            return TM_OK;
        }
        int result = tm_row_cursor_fill(r->store, dry, after);
        if (result == TM_LOG_DISK) {
            give_up(r, dry);
        } else if (result != TM_OK) {
            return result;
        }
    }
}

/* ---- records ---- */

/* Move the window to a record and the ones close behind it; false: no memory or no disk. */
static bool slide(reading *r, const tm_row_cursor *cursor, uint64_t at) {
    const tm_segment *segment = cursor->segment;
    uint64_t bytes = segment->bytes - at < WINDOW_BYTES ? segment->bytes - at : WINDOW_BYTES;
    uint64_t spanned = at;
    for (uint32_t i = cursor->at + 1; i < cursor->count && spanned < at + bytes; i++) {
        uint64_t place = (uint64_t)cursor->references[i].summary.place * 8;
        if (place < spanned || place - spanned > GAP_BYTES) {
            break;
        }
        spanned = place;
    }
    bytes = spanned + GAP_BYTES < at + bytes ? spanned + GAP_BYTES - at : bytes;
    if (r->window == NULL) {
        pthread_mutex_lock(&r->store->state);
        r->window = TM_NEW(&r->store->memory, TM_COLD, uint8_t, WINDOW_BYTES);
        pthread_mutex_unlock(&r->store->state);
    }
    bool is_read = r->window != NULL && tm_disk_read_whole(r->store->disk, segment->file, r->window, bytes, at) == 0;
    r->segment = is_read ? segment : NULL;
    r->window_at = at;
    r->window_end = at + bytes;
    return is_read;
}

/* Read the record at a cursor. */
static int fetch(reading *r, const tm_row_cursor *cursor, uint64_t n, uint8_t *out, size_t capacity, size_t *size) {
    const tm_segment *segment = cursor->segment;
    uint32_t place = cursor->references[cursor->at].summary.place;
    uint64_t at = (uint64_t)place * 8;
    bool is_seen = r->segment == segment && at >= r->window_at && at + sizeof(tm_log_record) <= r->window_end;
    if (at + sizeof(tm_log_record) <= segment->bytes && (is_seen || slide(r, cursor, at))) {
        const tm_log_record *record = (const tm_log_record *)(r->window + (at - r->window_at));
        if (record->n == n && record->size <= r->window_end - at && record->size <= capacity &&
            tm_record_is_sound(tm_salt(segment->serial), (const uint8_t *)record, record->size)) {
            memcpy(out, record, record->size);
            *size = record->size;
            return TM_OK;
        }
    }
    return tm_store_fetch(r->store, segment, place, n, out, capacity, size);
}

/* Read the first sound one of the records with this number; there may be two while it is copied. */
static int take(reading *r, uint64_t n, uint8_t *out, size_t capacity, size_t *size) {
    int result = TM_LOG_DISK;
    for (uint32_t i = 0; i < r->count && result == TM_LOG_DISK; i++) {
        const tm_row_cursor *cursor = &r->cursors[i];
        if (cursor->at == cursor->count || tm_row_cursor_n(cursor, 0) != n) {
            continue;
        }
        result = fetch(r, cursor, n, out, capacity, size);
        if (result == TM_LOG_DISK) {
            pthread_mutex_lock(&r->store->state);
            r->store->damaged += !cursor->segment->is_damaged;
            cursor->segment->is_damaged = true;
            pthread_mutex_unlock(&r->store->state);
        }
    }
    return result;
}

static void pass(reading *r, uint64_t n) {
    for (uint32_t i = 0; i < r->count; i++) {
        tm_row_cursor_pass(&r->cursors[i], n);
    }
}

static bool is_open(const reading *r, uint64_t n) {
    pthread_mutex_lock(&r->store->state);
    bool is_open = tm_store_is_open(r->store, r->of.holder, r->of.role, n);
    pthread_mutex_unlock(&r->store->state);
    return is_open;
}

/* Find the next open number past `*after`, which moves to it; UINT64_MAX: there is none in the rows of this call. */
static int next_open(reading *r, uint64_t *after) {
    uint64_t n;
    int result;
    do {
        result = next_number(r, *after, &n);
        if (result != TM_OK || n == UINT64_MAX || n >= r->end_n) {
            *after = UINT64_MAX;
            return result;
        }
        *after = n;
        if (is_open(r, n)) {
            return TM_OK;
        }
        pass(r, n);
    } while (true);
}

/* Report a record that cannot be read, except a policy, which an earlier one replaces. */
static int tell_lost(reading *r, uint64_t n, uint8_t *out, size_t capacity, size_t *size) {
    tm_log_record lost = {.size = sizeof lost, .n = n, .kind = TM_LOG_LOST};
    *size = r->of.role == TM_POLICY ? 0 : sizeof lost;
    if (*size > capacity) {
        return TM_TOO_MANY;
    }
    memcpy(out, &lost, *size);
    pthread_mutex_lock(&r->store->state);
    tm_store_add_missing(r->store, n, n);
    pthread_mutex_unlock(&r->store->state);
    return TM_OK;
}

/* Read records until one does not fit, which is TM_TOO_MANY and `*next` bytes long. */
static int read_on(reading *r, uint64_t after, uint8_t *out, size_t capacity, size_t *size, size_t *next) {
    for (;;) {
        int result = next_open(r, &after);
        if (result != TM_OK || after == UINT64_MAX) {
            return result;
        }
        result = take(r, after, out + *size, capacity - *size, next);
        if (result == TM_LOG_DISK) {
            result = tell_lost(r, after, out + *size, capacity - *size, next);
        }
        if (result == TM_TOO_MANY) {
            return result;
        }
        *size += result == TM_OK ? *next : 0;
        pass(r, after);
    }
}

/* A reading of too many rows ends with the last of them, and another one follows from there until `out` is full: fewer
 * records than it has room for mean that there are no others. */
int tm_store_read(tm_store *store, tm_claim of, uint64_t after, uint8_t *out, size_t capacity, size_t *size) {
    int result;
    size_t next = 0;
    *size = 0;
    do {
        reading r = {.store = store, .of = of, .end_n = UINT64_MAX};
        result = begin(&r, after);
        result = result == TM_OK ? read_on(&r, after, out, capacity, size, &next) : result;
        end(&r);
        after = r.end_n - 1;
    } while (result == TM_OK && after != UINT64_MAX - 1);
    if (result == TM_TOO_MANY && *size == 0) {
        *size = next;
        return TM_TOO_MANY;
    }
    return result == TM_TOO_MANY ? TM_OK : result;
}

/* Read the summary in the first row that has this number. */
static void tell_summary(const reading *r, uint64_t n, tm_log_summary *out) {
    for (uint32_t i = 0; i < r->count; i++) {
        const tm_row_cursor *cursor = &r->cursors[i];
        if (cursor->at < cursor->count && tm_row_cursor_n(cursor, 0) == n &&
            tm_segment_summary(cursor->segment, &cursor->references[cursor->at], n, out)) {
            return;
        }
    }
}

static int summary_on(reading *r, uint64_t after, tm_log_summary *out, size_t capacity, size_t *count) {
    while (*count < capacity) {
        int result = next_open(r, &after);
        if (result != TM_OK || after == UINT64_MAX) {
            return result;
        }
        tell_summary(r, after, &out[(*count)++]);
        pass(r, after);
    }
    return TM_OK;
}

int tm_store_summaries(tm_store *store, tm_claim of, uint64_t after, tm_log_summary *out, size_t capacity,
                       size_t *count) {
    int result;
    *count = 0;
    do {
        reading r = {.store = store, .of = of, .end_n = UINT64_MAX};
        result = begin(&r, after);
        result = result == TM_OK ? summary_on(&r, after, out, capacity, count) : result;
        end(&r);
        after = r.end_n - 1;
    } while (result == TM_OK && *count < capacity && after != UINT64_MAX - 1);
    return result;
}
