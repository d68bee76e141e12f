/* read.c - records that are kept for a claimant, from the files.
 *
 * Law: they come in the order of their numbers, each once, though copies lie elsewhere; what cannot be read is told as
 * missing, and passed. No lock is held while a file is read.
 */
#include <string.h>

#include "log/store.h"

#define PINNED_MAX 64U /* segments looked at in one call: a call that saw so many ends there */

bool tm_store_is_open(const tm_store *store, uint64_t claimant, bool is_home, uint64_t n) {
    const tm_claimant *known = tm_claimants_find(&store->claimants, claimant, is_home);
    return known != NULL && !tm_claimant_is_done(known, n);
}

int tm_store_fetch(tm_store *store, const tm_segment *segment, const tm_posting *posting, uint64_t n, uint8_t *out,
                   size_t capacity, size_t *size) {
    tm_log_record head;
    uint64_t at = (uint64_t)posting->place * 8;
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

/* The row as it is now: a segment may have been sealed since it was looked at, or have got more. */
static void refresh(const tm_segment *segment, tm_row *row) {
    for (uint32_t i = 0; i < segment->row_count; i++) {
        const tm_row *now = &segment->rows[i];
        if (now->claimant == row->claimant && now->is_home == row->is_home && now->high == row->high) {
            *row = *now;
            return;
        }
    }
}

tm_posting *tm_store_postings(tm_store *store, const tm_segment *segment, tm_row *row, bool *is_memory) {
    pthread_mutex_lock(&store->state);
    refresh(segment, row);
    tm_posting *postings = TM_NEW(&store->memory, TM_COLD, tm_posting, row->count);
    bool is_there = postings != NULL && segment->state != SEGMENT_SEALED;
    if (is_there) {
        tm_segment_postings(segment, store->disk, row, postings);
    }
    pthread_mutex_unlock(&store->state);
    *is_memory = postings == NULL;
    if (postings != NULL && !is_there && !tm_segment_postings(segment, store->disk, row, postings)) {
        pthread_mutex_lock(&store->state);
        TM_DELETE(&store->memory, TM_COLD, postings, tm_posting, row->count);
        pthread_mutex_unlock(&store->state);
        return NULL;
    }
    return postings;
}

/* ---- the next numbers of a claimant ---- */

/* A row of a pinned segment, and where in it the reading is. */
typedef struct source {
    tm_segment *segment; /* pinned */
    tm_row row;
    tm_posting *postings; /* owned */
    uint32_t at;
} source;

typedef struct reading {
    tm_store *store;
    source sources[PINNED_MAX];
    uint32_t count;
    uint64_t end_n; /* numbers past it are in segments that were not looked at */
} reading;

static bool may_have(const tm_row *row, uint64_t claimant, bool is_home, uint64_t after) {
    return row->claimant == claimant && row->is_home == is_home && tm_row_n(row, row->low_max) > after;
}

/* Pin the rows of the claimant that may have numbers past `after`: those with the least numbers, if they are many. */
static void pin(reading *r, uint64_t claimant, bool is_home, uint64_t after) {
    tm_store *store = r->store;
    for (uint32_t i = 0; i < store->segment_count; i++) {
        tm_segment *segment = store->segments[i];
        for (uint32_t row = 0; row < segment->row_count && !segment->is_leaving; row++) {
            if (!may_have(&segment->rows[row], claimant, is_home, after)) {
                continue;
            }
            source found = {.segment = segment, .row = segment->rows[row]};
            if (r->count < PINNED_MAX) {
                r->sources[r->count++] = found;
                continue;
            }
            uint32_t worst = 0;
            for (uint32_t j = 1; j < r->count; j++) {
                worst = tm_row_n(&r->sources[j].row, r->sources[j].row.low_min) >
                                tm_row_n(&r->sources[worst].row, r->sources[worst].row.low_min)
                            ? j
                            : worst;
            }
            uint64_t out = tm_row_n(&r->sources[worst].row, r->sources[worst].row.low_min);
            uint64_t in = tm_row_n(&found.row, found.row.low_min);
            if (in < out) {
                r->sources[worst] = found;
            }
            uint64_t left_out = in < out ? out : in;
            r->end_n = left_out < r->end_n ? left_out : r->end_n;
        }
    }
    for (uint32_t i = 0; i < r->count; i++) {
        r->sources[i].segment->pins++;
    }
}

static void unpin(reading *r) {
    pthread_mutex_lock(&r->store->state);
    for (uint32_t i = 0; i < r->count; i++) {
        source *s = &r->sources[i];
        s->segment->pins--;
        if (s->postings != NULL) {
            TM_DELETE(&r->store->memory, TM_COLD, s->postings, tm_posting, s->row.count);
        }
    }
    pthread_mutex_unlock(&r->store->state);
}

/* The entries of a row are wanted as soon as its least number may be the next. */
static int fill(reading *r, source *s, uint64_t after) {
    bool is_memory;
    s->postings = tm_store_postings(r->store, s->segment, &s->row, &is_memory);
    if (s->postings == NULL) {
        return is_memory ? TM_NO_MEMORY : TM_LOG_DISK;
    }
    uint32_t low = 0;
    for (uint32_t high = s->row.count; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        if (tm_row_n(&s->row, s->postings[middle].low) <= after) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    s->at = low;
    return TM_OK;
}

static uint64_t next_of(const source *s, uint64_t after) {
    if (s->postings == NULL) {
        uint64_t least = tm_row_n(&s->row, s->row.low_min);
        return least > after ? least : after + 1;
    }
    return s->at < s->row.count ? tm_row_n(&s->row, s->postings[s->at].low) : UINT64_MAX;
}

/* The source with the least number past `after`, with its entries; NULL and TM_OK: there is none. */
static int next_source(reading *r, uint64_t after, source **next) {
    for (;;) {
        uint64_t least = UINT64_MAX;
        *next = NULL;
        for (uint32_t i = 0; i < r->count; i++) {
            uint64_t n = next_of(&r->sources[i], after);
            if (n < least) {
                least = n;
                *next = &r->sources[i];
            }
        }
        if (*next == NULL || (*next)->postings != NULL) {
            return TM_OK;
        }
        int result = fill(r, *next, after);
        if (result == TM_LOG_DISK) { /* which numbers are lost with it is told by the scrubber */
            (*next)->segment->is_damaged = true;
            (*next)->row.low_max = (*next)->row.low_min = 0;
            pthread_mutex_lock(&r->store->state);
            (*next)->segment->pins--;
            pthread_mutex_unlock(&r->store->state);
            **next = r->sources[--r->count];
        } else if (result != TM_OK) {
            return result;
        }
    }
}

/* All that have this number: it may stand twice while it is copied. The first one that can be read is taken. */
static int take(reading *r, uint64_t n, uint8_t *out, size_t capacity, size_t *size) {
    int result = TM_LOG_DISK;
    for (uint32_t i = 0; i < r->count; i++) {
        source *s = &r->sources[i];
        if (s->postings == NULL || next_of(s, 0) != n) {
            continue;
        }
        if (result == TM_LOG_DISK) {
            result = tm_store_fetch(r->store, s->segment, &s->postings[s->at], n, out, capacity, size);
            if (result == TM_LOG_DISK) {
                pthread_mutex_lock(&r->store->state);
                r->store->damaged += !s->segment->is_damaged;
                s->segment->is_damaged = true;
                pthread_mutex_unlock(&r->store->state);
            }
        }
    }
    return result;
}

static void pass(reading *r, uint64_t n) {
    for (uint32_t i = 0; i < r->count; i++) {
        source *s = &r->sources[i];
        while (s->postings != NULL && s->at < s->row.count && tm_row_n(&s->row, s->postings[s->at].low) <= n) {
            s->at++;
        }
    }
}

static int read_on(reading *r, uint64_t claimant, bool is_home, uint64_t after, uint8_t *out, size_t capacity,
                   size_t *size) {
    for (;;) {
        source *next;
        int result = next_source(r, after, &next);
        if (result != TM_OK || next == NULL) {
            return result;
        }
        uint64_t n = next_of(next, after);
        if (n == UINT64_MAX || n >= r->end_n) {
            return TM_OK;
        }
        pthread_mutex_lock(&r->store->state);
        bool is_open = tm_store_is_open(r->store, claimant, is_home, n);
        pthread_mutex_unlock(&r->store->state);
        size_t bytes = 0;
        result = is_open ? take(r, n, out + *size, capacity - *size, &bytes) : TM_OK;
        if (result == TM_TOO_MANY) {
            bool is_first = *size == 0;
            *size = is_first ? bytes : *size;
            return is_first ? TM_TOO_MANY : TM_OK;
        }
        if (result == TM_LOG_DISK) {
            pthread_mutex_lock(&r->store->state);
            tm_store_add_missing(r->store, n, n);
            pthread_mutex_unlock(&r->store->state);
        }
        *size += result == TM_OK ? bytes : 0;
        pass(r, n);
        after = n;
    }
}

int tm_store_read(tm_store *store, uint64_t claimant, bool is_home, uint64_t after, uint8_t *out, size_t capacity,
                  size_t *size) {
    reading r = {.store = store, .end_n = UINT64_MAX};
    *size = 0;
    pthread_mutex_lock(&store->state);
    pin(&r, claimant, is_home, after);
    pthread_mutex_unlock(&store->state);
    int result = read_on(&r, claimant, is_home, after, out, capacity, size);
    unpin(&r);
    return result;
}
