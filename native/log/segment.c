/* segment.c - see segment.h. */
#include "log/segment.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

tm_segment *tm_segment_new(tm_memory *memory) {
    tm_segment *segment = TM_NEW(memory, TM_COLD, tm_segment, 1);
    if (segment != NULL) {
        *segment = (tm_segment){.memory = memory, .file = -1, .used = SEGMENT_HEAD_BYTES};
    }
    return segment;
}

static void free_index(tm_segment *segment) {
    TM_DELETE(segment->memory, TM_COLD, segment->links, tm_link, segment->link_capacity);
    TM_DELETE(segment->memory, TM_COLD, segment->rows, tm_row, segment->row_capacity);
    tm_idset_free(&segment->row_set, segment->memory, TM_COLD);
    segment->links = NULL;
    segment->rows = NULL;
    segment->row_count = segment->row_capacity = segment->link_count = segment->link_capacity = 0;
}

void tm_segment_free(tm_segment *segment) {
    if (segment != NULL) {
        free_index(segment);
        TM_DELETE(segment->memory, TM_COLD, segment, tm_segment, 1);
    }
}

/* ---- the index in memory ---- */

/* Rows of one claimant have one hash: they are found together. */
static uint64_t hash_row(const tm_segment *segment, uint64_t claimant, tm_role role) {
    return tm_hash_words(claimant, role, 0, &segment->memory->key);
}

static uint64_t hash_of(const void *owner, uint64_t id) {
    const tm_segment *segment = owner;
    const tm_row *row = &segment->rows[id - 1];
    return hash_row(segment, row->claimant, row->role);
}

static int by_claimant(const void *one, const void *other) {
    const tm_row *first = one;
    const tm_row *second = other;
    int order = (first->claimant > second->claimant) - (first->claimant < second->claimant);
    order = order != 0 ? order : (first->role > second->role) - (first->role < second->role);
    return order != 0 ? order : (first->high > second->high) - (first->high < second->high);
}

/* Where the rows of a claimant begin among sorted ones. */
static uint32_t first_row(const tm_segment *segment, tm_claim of) {
    tm_row key = {.claimant = of.claimant, .role = of.role};
    uint32_t low = 0;
    for (uint32_t high = segment->row_count; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        if (by_claimant(&segment->rows[middle], &key) < 0) {
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
        walk.search = tm_idset_start(&segment->row_set, hash_row(segment, of.claimant, of.role));
    }
    return walk;
}

tm_row *tm_segment_next_row(tm_row_walk *walk) {
    const tm_segment *segment = walk->segment;
    uint32_t id;
    if (segment->state == SEGMENT_SEALED) {
        tm_row *row = walk->next < segment->row_count ? &segment->rows[walk->next++] : NULL;
        return row != NULL && row->claimant == walk->of.claimant && row->role == walk->of.role ? row : NULL;
    }
    while ((id = tm_idset_next(&walk->search)) != 0) {
        tm_row *row = &segment->rows[id - 1];
        if (row->claimant == walk->of.claimant && row->role == walk->of.role) {
            return row;
        }
    }
    return NULL;
}

static bool is_row_of(const tm_row *row, tm_claim of, uint32_t high) {
    return row->claimant == of.claimant && row->high == high && row->role == of.role;
}

/* The row, made if there is none; NULL: no memory for it. */
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
    *row = (tm_row){.claimant = of.claimant, .role = of.role, .high = high, .low_min = UINT32_MAX};
    tm_idset_insert(&segment->row_set, hash_row(segment, of.claimant, of.role), segment->row_count);
    segment->last_row = segment->row_count - 1;
    return row;
}

bool tm_segment_reserve(tm_segment *segment, const tm_log_record *record, uint32_t *refs) {
    uint32_t high = (uint32_t)(record->n >> 32);
    *refs += tm_record_claims(record);
    for (uint32_t i = 0; i < tm_record_claims(record); i++) {
        if (row_of(segment, tm_record_claim(record, i), high) == NULL) {
            return false;
        }
    }
    return tm_grow(segment->memory, TM_COLD, &segment->links, sizeof *segment->links, &segment->link_capacity,
                   segment->link_count + *refs);
}

static void add_entry(tm_segment *segment, tm_claim of, uint64_t n, uint32_t place) {
    uint32_t low = (uint32_t)n;
    tm_row *row = row_of(segment, of, (uint32_t)(n >> 32));
    segment->links[segment->link_count++] = (tm_link){low, place, row->start};
    row->start = segment->link_count;
    row->count++;
    row->low_min = low < row->low_min ? low : row->low_min;
    row->low_max = low > row->low_max ? low : row->low_max;
}

void tm_segment_index(tm_segment *segment, const tm_log_record *record, uint32_t place) {
    for (uint32_t i = 0; i < tm_record_claims(record); i++) {
        add_entry(segment, tm_record_claim(record, i), record->n, place);
    }
}

/* ---- entries of a row ---- */

static int by_low(const void *one, const void *other) {
    uint32_t first = ((const tm_posting *)one)->low;
    uint32_t second = ((const tm_posting *)other)->low;
    return (first > second) - (first < second);
}

/* Of a segment whose index is in memory. */
static void gather(const tm_segment *segment, const tm_row *row, tm_posting *out) {
    bool is_sorted = true;
    uint32_t at = row->count;
    for (uint32_t link = row->start; link != 0; link = segment->links[link - 1].next) {
        out[--at] = (tm_posting){segment->links[link - 1].low, segment->links[link - 1].place};
        is_sorted = is_sorted && (at + 1 == row->count || out[at].low <= out[at + 1].low);
    }
    if (!is_sorted) {
        qsort(out, row->count, sizeof *out, by_low);
    }
}

static uint64_t entries_at(const tm_segment *segment) {
    return segment->used + sizeof(tm_footer_head) + (uint64_t)segment->row_count * sizeof(tm_row);
}

bool tm_segment_postings(const tm_segment *segment, tm_disk *disk, const tm_row *row, uint32_t from, uint32_t count,
                         tm_posting *out) {
    if (segment->state != SEGMENT_SEALED) {
        gather(segment, row, out);
        return true;
    }
    uint64_t at = entries_at(segment) + ((uint64_t)row->start + from) * sizeof *out;
    return tm_disk_read_whole(disk, segment->file, out, (size_t)count * sizeof *out, at) == 0;
}

/* ---- the footer ---- */

static void sort_rows(tm_row *rows, uint32_t count) {
    bool is_sorted = true;
    for (uint32_t i = 1; i < count; i++) {
        is_sorted = is_sorted && by_claimant(&rows[i - 1], &rows[i]) < 0;
    }
    if (!is_sorted) {
        qsort(rows, count, sizeof *rows, by_claimant);
    }
}

uint64_t tm_segment_footer_bytes(const tm_segment *segment) {
    return sizeof(tm_footer_head) + (uint64_t)segment->row_count * sizeof(tm_row) +
           (uint64_t)segment->link_count * sizeof(tm_posting);
}

void tm_segment_footer(const tm_segment *segment, uint8_t *out) {
    tm_footer_head *head = (tm_footer_head *)out;
    *head = (tm_footer_head){.magic = FOOTER_MAGIC,
                             .serial = segment->serial,
                             .last_seq = segment->last_seq,
                             .last_n = segment->last_n,
                             .last_fresh_n = segment->last_fresh_n,
                             .rows = segment->row_count,
                             .entries = segment->link_count,
                             .used = (uint32_t)segment->used};
    tm_row *rows = (tm_row *)(head + 1);
    tm_posting *entries = (tm_posting *)(rows + segment->row_count);
    uint32_t start = 0;
    if (segment->row_count > 0) {
        memcpy(rows, segment->rows, segment->row_count * sizeof *rows);
    }
    sort_rows(rows, segment->row_count);
    for (uint32_t i = 0; i < segment->row_count; i++) {
        gather(segment, &rows[i], entries + start);
        rows[i].start = start;
        start += rows[i].count;
    }
    head->crc = tm_footer_crc(head, tm_footer_bytes(head));
}

void tm_segment_unseal(tm_segment *segment) {
    free_index(segment);
    segment->state = SEGMENT_CLOSED;
}

bool tm_segment_seal(tm_segment *segment, const uint8_t *footer) {
    const tm_footer_head *head = (const tm_footer_head *)footer;
    tm_row *rows = TM_NEW(segment->memory, TM_COLD, tm_row, head->rows);
    if (rows == NULL) {
        return false;
    }
    memcpy(rows, head + 1, head->rows * sizeof *rows);
    sort_rows(rows, head->rows);
    free_index(segment);
    segment->rows = rows;
    segment->row_count = segment->row_capacity = head->rows;
    segment->used = head->used;
    segment->last_seq = head->last_seq;
    segment->last_n = head->last_n;
    segment->last_fresh_n = head->last_fresh_n;
    segment->state = SEGMENT_SEALED;
    return true;
}
