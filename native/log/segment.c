/* segment.c - see segment.h. */
#include "log/segment.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/wire.h"

#define SUMMARIES_READ 256U /* read at once if the requested ones lie close together: */
#define SUMMARIES_GAP 64U   /* at most this far apart, as reading the gap takes less time than another read */

tm_segment *tm_segment_new(tm_memory *memory) {
    tm_segment *segment = TM_NEW(memory, TM_COLD, tm_segment, 1);
    if (segment != NULL) {
        *segment = (tm_segment){.memory = memory, .file = -1, .used = SEGMENT_HEAD_BYTES, .least_us = UINT64_MAX};
    }
    return segment;
}

static void free_index(tm_segment *segment) {
    TM_DELETE(segment->memory, TM_COLD, segment->links, tm_link, segment->link_capacity);
    TM_DELETE(segment->memory, TM_COLD, segment->rows, tm_row, segment->row_capacity);
    TM_DELETE(segment->memory, TM_COLD, segment->summaries, tm_summary, segment->summary_capacity);
    tm_idset_free(&segment->row_set, segment->memory, TM_COLD);
    segment->links = NULL;
    segment->rows = NULL;
    segment->summaries = NULL;
    segment->row_count = segment->row_capacity = segment->link_count = segment->link_capacity = 0;
    segment->summary_count = segment->summary_capacity = 0;
    segment->is_mixed = false;
}

void tm_segment_free(tm_segment *segment) {
    if (segment != NULL) {
        free_index(segment);
        TM_DELETE(segment->memory, TM_COLD, segment, tm_segment, 1);
    }
}

/* ---- the index in memory ---- */

/* Rows of one holder have one hash, so that one search finds them. */
static uint64_t hash_row(const tm_segment *segment, uint64_t holder, tm_role role) {
    return tm_hash_words(holder, role, 0, &segment->memory->key);
}

static uint64_t hash_of(const void *owner, uint64_t id) {
    const tm_segment *segment = owner;
    const tm_row *row = &segment->rows[id - 1];
    return hash_row(segment, row->holder, row->role);
}

static int by_holder(const void *one, const void *other) {
    const tm_row *first = one;
    const tm_row *second = other;
    int order = (first->holder > second->holder) - (first->holder < second->holder);
    order = order != 0 ? order : (first->role > second->role) - (first->role < second->role);
    return order != 0 ? order : (first->high > second->high) - (first->high < second->high);
}

/* Return where the rows of a holder begin among sorted ones. */
static uint32_t first_row(const tm_segment *segment, tm_claim of) {
    tm_row key = {.holder = of.holder, .role = of.role};
    uint32_t low = 0;
    for (uint32_t high = segment->row_count; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        if (by_holder(&segment->rows[middle], &key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

tm_row_walk tm_segment_rows_of(const tm_segment *segment, tm_claim of) {
    tm_row_walk walk = {.segment = segment, .of = of};
    if (segment->state == SEGMENT_SEALED) {
        walk.next = first_row(segment, of);
    } else {
        walk.search = tm_idset_start(&segment->row_set, hash_row(segment, of.holder, of.role));
    }
    return walk;
}

tm_row *tm_segment_next_row(tm_row_walk *walk) {
    const tm_segment *segment = walk->segment;
    uint32_t id;
    if (segment->state == SEGMENT_SEALED) {
        tm_row *row = walk->next < segment->row_count ? &segment->rows[walk->next++] : NULL;
        return row != NULL && row->holder == walk->of.holder && row->role == walk->of.role ? row : NULL;
    }
    while ((id = tm_idset_next(&walk->search)) != 0) {
        tm_row *row = &segment->rows[id - 1];
        if (row->holder == walk->of.holder && row->role == walk->of.role) {
            return row;
        }
    }
    return NULL;
}

static bool is_row_of(const tm_row *row, tm_claim of, uint32_t high) {
    return row->holder == of.holder && row->high == high && row->role == of.role;
}

/* Return the row, which is added if missing; NULL: no memory. */
static tm_row *row_of(tm_segment *segment, tm_claim of, uint32_t high) {
    if (segment->last_row < segment->row_count && is_row_of(&segment->rows[segment->last_row], of, high)) {
        return &segment->rows[segment->last_row];
    }
    tm_row_walk walk = tm_segment_rows_of(segment, of);
    tm_row *row;
    while ((row = tm_segment_next_row(&walk)) != NULL) {
        if (row->high == high) {
            segment->last_row = (uint32_t)(row - segment->rows);
            return row;
        }
    }
    if (!tm_grow(segment->memory, TM_COLD, &segment->rows, sizeof *segment->rows, &segment->row_capacity,
                 segment->row_count + 1) ||
        tm_idset_reserve(&segment->row_set, segment->memory, TM_COLD, hash_of, segment) != TM_OK) {
        return NULL;
    }
    row = &segment->rows[segment->row_count++];
    *row = (tm_row){.holder = of.holder, .role = of.role, .high = high, .low_min = UINT32_MAX};
    tm_idset_insert(&segment->row_set, hash_row(segment, of.holder, of.role), segment->row_count);
    segment->last_row = segment->row_count - 1;
    return row;
}

bool tm_segment_reserve(tm_segment *segment, const tm_log_record *record, tm_room *room) {
    uint32_t high = (uint32_t)(record->n >> 32);
    room->links += tm_record_claims(record);
    room->summaries++;
    for (uint32_t i = 0; i < tm_record_claims(record); i++) {
        if (row_of(segment, tm_record_claim(record, i), high) == NULL) {
            return false;
        }
    }
    return tm_grow(segment->memory, TM_COLD, &segment->links, sizeof *segment->links, &segment->link_capacity,
                   segment->link_count + room->links) &&
           tm_grow(segment->memory, TM_COLD, &segment->summaries, sizeof *segment->summaries,
                   &segment->summary_capacity, segment->summary_count + room->summaries);
}

void tm_segment_expect(tm_segment *segment, const tm_segment *like) {
    tm_memory *memory = segment->memory;
    uint64_t bytes = like->link_count * sizeof *segment->links + like->summary_count * sizeof *segment->summaries;
    if (memory->bytes_max == 0 || memory->bytes + bytes <= memory->bytes_max / 2) {
        tm_grow(memory, TM_COLD, &segment->links, sizeof *segment->links, &segment->link_capacity, like->link_count);
        tm_grow(memory, TM_COLD, &segment->summaries, sizeof *segment->summaries, &segment->summary_capacity,
                like->summary_count);
    }
}

/* Return how long a message lasts, if a summary can hold that; SUMMARY_IS_SHORT: it cannot, or the record is no
 * message. */
static uint32_t lasts_ms(const tm_log_record *record, uint64_t at_ms) {
    const uint8_t *frame = tm_record_body(record);
    uint64_t expires_ms = 0;
    bool is_message = record->kind == TM_LOG_MESSAGE || record->kind == TM_LOG_SEED;
    if (!is_message || record->body_size < WIRE_HEADER_BYTES || tm_load32(frame) != record->body_size ||
        !wire_expiry_ms(frame, record->body_size, &expires_ms)) {
        return SUMMARY_IS_SHORT;
    }
    bool is_soon = expires_ms > at_ms && expires_ms - at_ms < SUMMARY_IS_SHORT;
    return expires_ms == 0 ? 0 : is_soon ? (uint32_t)(expires_ms - at_ms) : SUMMARY_IS_SHORT;
}

static void add_summary(tm_segment *segment, const tm_log_record *record, uint32_t place) {
    uint64_t at_ms = record->t_us / 1000;
    if (segment->summary_count == 0) { /* readers of summaries hold no lock, so it is written once */
        segment->summaries_ms = at_ms;
    }
    int64_t apart_ms = (int64_t)(at_ms - segment->summaries_ms);
    tm_summary summary = {.place = place, .body_size = record->body_size, .at_ms = (uint32_t)at_ms};
    summary.lasts_ms = apart_ms == (int32_t)apart_ms ? lasts_ms(record, at_ms) : SUMMARY_IS_SHORT;
    summary.crc = tm_summary_crc(tm_salt(segment->serial), record->n, &summary);
    segment->summaries[segment->summary_count++] = summary;
}

static void add_link(tm_segment *segment, tm_claim of, uint64_t n) {
    uint32_t low = (uint32_t)n;
    tm_row *row = row_of(segment, of, (uint32_t)(n >> 32));
    segment->links[segment->link_count++] = (tm_link){low, segment->summary_count - 1, row->start};
    segment->is_mixed = segment->is_mixed || (row->count > 0 && low < row->low_max);
    row->start = segment->link_count;
    row->count++;
    row->low_min = low < row->low_min ? low : row->low_min;
    row->low_max = low > row->low_max ? low : row->low_max;
}

void tm_segment_index(tm_segment *segment, const tm_log_record *record, uint32_t place) {
    segment->least_us = record->t_us < segment->least_us ? record->t_us : segment->least_us;
    segment->most_us = record->t_us > segment->most_us ? record->t_us : segment->most_us;
    if (tm_record_claims(record) > 0) {
        add_summary(segment, record, place);
    }
    for (uint32_t i = 0; i < tm_record_claims(record); i++) {
        add_link(segment, tm_record_claim(record, i), record->n);
    }
}

/* ---- the records of a row ---- */

static int by_low(const void *one, const void *other) {
    uint32_t first = ((const tm_posting *)one)->low;
    uint32_t second = ((const tm_posting *)other)->low;
    return (first > second) - (first < second);
}

uint32_t tm_segment_newer(const tm_segment *segment, const tm_row *row, uint64_t after) {
    uint64_t least = (uint64_t)row->high << 32;
    uint32_t count = 0;
    for (uint32_t link = row->start; link != 0 && least + segment->links[link - 1].low > after; count++) {
        link = segment->links[link - 1].next;
    }
    return count;
}

/* Collect `count` postings, from index `from` on, of a row of a segment whose index is in memory; all of them if it is
 * mixed. */
static void gather(const tm_segment *segment, const tm_row *row, uint32_t from, uint32_t count, tm_posting *out) {
    uint32_t link = row->start;
    for (uint32_t later = row->count - from - count; later > 0; later--) {
        link = segment->links[link - 1].next;
    }
    bool is_sorted = true;
    for (uint32_t at = count; at-- > 0; link = segment->links[link - 1].next) {
        out[at] = (tm_posting){segment->links[link - 1].low, segment->links[link - 1].summary};
        is_sorted = is_sorted && (at + 1 == count || out[at].low <= out[at + 1].low);
    }
    if (!is_sorted) {
        qsort(out, count, sizeof *out, by_low);
    }
}

/* A window over the summaries of a segment. */
typedef struct summary_window {
    const tm_segment *segment; /* borrowed */
    tm_disk *disk;             /* borrowed */
    uint64_t at;               /* of the first summary, in the file */
    const uint8_t *postings;   /* borrowed: those whose summaries are requested, the last one first */
    uint32_t end;              /* the window holds the `count` summaries before it */
    uint32_t count;
    tm_summary summaries[SUMMARIES_READ];
} summary_window;

static tm_posting posting_at(const uint8_t *postings, uint32_t at) {
    tm_posting posting;
    memcpy(&posting, postings + at * sizeof posting, sizeof posting);
    return posting;
}

/* Return how many summaries to read for a posting: back to those of earlier postings that lie close. */
static uint32_t reach_of(const uint8_t *postings, uint32_t at) {
    uint32_t last = posting_at(postings, at).summary;
    uint32_t first = last;
    while (at-- > 0) {
        uint32_t which = posting_at(postings, at).summary;
        if (which > first || first - which > SUMMARIES_GAP || last - which >= SUMMARIES_READ) {
            break;
        }
        first = which;
    }
    return last - first + 1;
}

/* Find the summary of a posting; an index outside the list yields SUMMARY_IS_SHORT. false: the disk cannot be read. */
static bool find_summary(summary_window *w, uint32_t at, tm_summary *summary) {
    uint32_t which = posting_at(w->postings, at).summary;
    *summary = (tm_summary){.lasts_ms = SUMMARY_IS_SHORT};
    if (which >= w->segment->summary_count) {
        return true;
    }
    if (w->segment->state != SEGMENT_SEALED) {
        *summary = w->segment->summaries[which];
        return true;
    }
    if (which >= w->end || which < w->end - w->count) {
        w->end = which + 1;
        w->count = reach_of(w->postings, at);
        uint64_t from = w->at + (uint64_t)(w->end - w->count) * sizeof *summary;
        if (tm_disk_read_whole(w->disk, w->segment->file, w->summaries, w->count * sizeof *summary, from) != 0) {
            return false;
        }
    }
    *summary = w->summaries[w->count - (w->end - which)];
    return true;
}

bool tm_segment_references(const tm_segment *segment, tm_disk *disk, const tm_row *row, uint32_t from, uint32_t count,
                           tm_reference *out) {
    uint64_t postings_at = segment->used + sizeof(tm_footer_head) + (uint64_t)segment->row_count * sizeof(tm_row);
    summary_window w = {.segment = segment,
                        .disk = disk,
                        .at = postings_at + segment->link_count * sizeof(tm_posting),
                        .postings = (const uint8_t *)out};
    if (segment->state != SEGMENT_SEALED) {
        gather(segment, row, from, count, (tm_posting *)out);
    } else if (tm_disk_read_whole(disk, segment->file, out, count * sizeof(tm_posting),
                                  postings_at + ((uint64_t)row->start + from) * sizeof(tm_posting)) != 0) {
        return false;
    }
    for (uint32_t i = count; i-- > 0;) { /* from the end, as references are longer than the postings that they
                                          * replace */
        uint32_t low = posting_at(w.postings, i).low;
        tm_summary summary;
        if (!find_summary(&w, i, &summary)) {
            return false;
        }
        out[i] = (tm_reference){low, summary};
    }
    return true;
}

bool tm_segment_summary(const tm_segment *segment, const tm_reference *reference, uint64_t n, tm_log_summary *out) {
    const tm_summary *summary = &reference->summary;
    *out = (tm_log_summary){.n = n};
    if (summary->lasts_ms == SUMMARY_IS_SHORT || summary->crc != tm_summary_crc(tm_salt(segment->serial), n, summary)) {
        return false;
    }
    int32_t apart_ms = (int32_t)(summary->at_ms - (uint32_t)segment->summaries_ms);
    out->at_ms = segment->summaries_ms + (uint64_t)(int64_t)apart_ms;
    out->expires_ms = summary->lasts_ms > 0 ? out->at_ms + summary->lasts_ms : 0;
    out->body_size = summary->body_size;
    out->is_enough = 1;
    return true;
}

/* ---- the footer ---- */

static void sort_rows(tm_row *rows, uint32_t count) {
    bool is_sorted = true;
    for (uint32_t i = 1; i < count; i++) {
        is_sorted = is_sorted && by_holder(&rows[i - 1], &rows[i]) < 0;
    }
    if (!is_sorted) {
        qsort(rows, count, sizeof *rows, by_holder);
    }
}

uint64_t tm_segment_footer_bytes(const tm_segment *segment) {
    return sizeof(tm_footer_head) + (uint64_t)segment->row_count * sizeof(tm_row) +
           (uint64_t)segment->link_count * sizeof(tm_posting) + (uint64_t)segment->summary_count * sizeof(tm_summary);
}

void tm_segment_footer(const tm_segment *segment, uint8_t *out) {
    tm_footer_head *head = (tm_footer_head *)out;
    *head = (tm_footer_head){.magic = FOOTER_MAGIC,
                             .serial = segment->serial,
                             .last_seq = segment->last_seq,
                             .last_n = segment->last_n,
                             .last_fresh_n = segment->last_fresh_n,
                             .summaries_ms = segment->summaries_ms,
                             .least_us = segment->least_us,
                             .most_us = segment->most_us,
                             .rows = segment->row_count,
                             .postings = segment->link_count,
                             .summaries = segment->summary_count,
                             .used = (uint32_t)segment->used};
    tm_row *rows = (tm_row *)(head + 1);
    tm_posting *postings = (tm_posting *)(rows + segment->row_count);
    uint32_t start = 0;
    if (segment->row_count > 0) {
        memcpy(rows, segment->rows, segment->row_count * sizeof *rows);
    }
    sort_rows(rows, segment->row_count);
    for (uint32_t i = 0; i < segment->row_count; i++) {
        gather(segment, &rows[i], 0, rows[i].count, postings + start);
        rows[i].start = start;
        start += rows[i].count;
    }
    if (segment->summary_count > 0) {
        memcpy(postings + start, segment->summaries, segment->summary_count * sizeof *segment->summaries);
    }
    head->crc = tm_footer_crc(head, tm_footer_bytes(head));
}

void tm_segment_unseal(tm_segment *segment) {
    free_index(segment);
    segment->least_us = UINT64_MAX;
    segment->most_us = 0;
    segment->state = SEGMENT_CLOSED;
}

/* Compute the weight of the records of a footer: the sum, and the heaviest for one holder. */
static void weigh(tm_segment *segment, const tm_footer_head *head) {
    const uint8_t *at = (const uint8_t *)(head + 1) + head->rows * sizeof(tm_row) + head->postings * sizeof(tm_posting);
    segment->weight = head->postings * POSTING_WEIGHT + head->rows * sizeof(tm_row);
    segment->heaviest = 0;
    for (uint32_t i = 0; i < head->summaries; i++) {
        tm_summary summary;
        memcpy(&summary, at + i * sizeof summary, sizeof summary);
        uint64_t weight = tm_record_weight(summary.body_size, segment->bytes);
        segment->weight += weight;
        segment->heaviest = weight > segment->heaviest ? weight : segment->heaviest;
    }
    segment->heaviest += POSTING_WEIGHT + sizeof(tm_row);
}

bool tm_segment_seal(tm_segment *segment, const uint8_t *footer) {
    const tm_footer_head *head = (const tm_footer_head *)footer;
    tm_row *rows = TM_NEW(segment->memory, TM_COLD, tm_row, head->rows);
    if (rows == NULL) {
        return false;
    }
    memcpy(rows, head + 1, head->rows * sizeof *rows);
    sort_rows(rows, head->rows);
    if (segment->summary_count == 0) { /* otherwise the footer was written with this value */
        segment->summaries_ms = head->summaries_ms;
    }
    free_index(segment);
    segment->rows = rows;
    segment->row_count = segment->row_capacity = head->rows;
    segment->link_count = head->postings;
    segment->summary_count = head->summaries;
    segment->used = head->used;
    segment->last_seq = head->last_seq;
    segment->last_n = head->last_n;
    segment->last_fresh_n = head->last_fresh_n;
    segment->least_us = head->least_us;
    segment->most_us = head->most_us;
    segment->state = SEGMENT_SEALED;
    weigh(segment, head);
    return true;
}
