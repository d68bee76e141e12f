/* keep_fill.c - a keep is filled from the log after a start.
 *
 * Law: it has what the log has: messages, losses, and what was acknowledged and is kept on, which is what the log has
 * for the keep and not for its second claimant, KEEP_UNACKED. The disk is read, before the router serves.
 */
#include <stdlib.h>

#include "base/grow.h"
#include "switch/keeps.h"

#ifdef TM_LOG_TESTED
#define PIECE_BYTES 2048U /* less than the longest record of a test, so that it has to grow */
#else
#define PIECE_BYTES (1U << 20)
#endif
#define UNACKED_PIECE 512U

/* ---- losses ---- */

/* A tally of the book, for a keep that is still to be opened. */
static bool note_tally(tm_switch *sw, const tm_log_record *record, const uint8_t *body) {
    tm_keeps *keeps = sw->keeps;
    if (!tm_grow(&keeps->memory, TM_COLD, &keeps->tallies, sizeof *keeps->tallies, &keeps->tally_capacity,
                 keeps->tally_count + 1)) {
        return false;
    }
    tm_book_tally *tally = &keeps->tallies[keeps->tally_count++];
    memcpy(&tally->tally, body + sizeof(tm_log_done), sizeof tally->tally);
    tally->n = record->n;
    keeps->has_order = false;
    return true;
}

static int compare_tallies(const void *one, const void *other) {
    const tm_book_tally *a = one;
    const tm_book_tally *b = other;
    int by_keep = (a->tally.keep > b->tally.keep) - (a->tally.keep < b->tally.keep);
    return by_keep != 0 ? by_keep : (a->n > b->n) - (a->n < b->n);
}

/* The first tally of a keep, or of one behind it. */
static uint32_t first_tally(tm_keeps *keeps, uint64_t number) {
    if (!keeps->has_order && keeps->tally_count > 0) {
        qsort(keeps->tallies, keeps->tally_count, sizeof *keeps->tallies, compare_tallies);
    }
    keeps->has_order = true;
    uint32_t low = 0;
    uint32_t high = keeps->tally_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (keeps->tallies[middle].tally.keep < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The newest one counts. */
static void take_tallies(tm_switch *sw, tm_keep *keep) {
    tm_keeps *keeps = sw->keeps;
    for (uint32_t i = first_tally(keeps, keep->number);
         i < keeps->tally_count && keeps->tallies[i].tally.keep == keep->number; i++) {
        if (keep->tally_n != 0) {
            keep_retire_book(sw, keep->tally_n); /* a crash came between it and the one that replaced it */
        }
        keep->tally = keeps->tallies[i].tally;
        keep->tally_n = keeps->tallies[i].n;
    }
    memcpy(keep->told, keep->tally.left, sizeof keep->told);
    keep->told_doubts = keep->tally.doubts;
}

/* ---- what is acknowledged, and kept on ---- */

/* Numbers of what a keep has that is not acknowledged, ascending, a piece at a time. */
typedef struct unacked {
    uint32_t claimant; /* 0: the keep keeps nothing on, so that all it has is not acknowledged */
    uint64_t after;
    size_t count;
    size_t at;
    uint64_t numbers[UNACKED_PIECE];
} unacked;

static int read_unacked(tm_switch *sw, unacked *open) {
    open->at = 0;
    return tm_log_numbers(sw->keeps->log, open->claimant, 0, open->after, open->numbers, UNACKED_PIECE, &open->count);
}

/* Pass the numbers before `n`, which the keep has no more: a crash came between the records of its end. */
static int pass_unacked(tm_switch *sw, unacked *open, uint64_t n) {
    int result = TM_OK;
    while (result == TM_OK && open->count > 0 && open->numbers[open->at] < n) {
        open->after = open->numbers[open->at];
        keep_note_done(sw, open->claimant, open->after, open->after);
        if (++open->at == open->count) {
            result = read_unacked(sw, open);
        }
    }
    return result;
}

static int take_unacked(tm_switch *sw, unacked *open, uint64_t n, bool *is_open) {
    int result = pass_unacked(sw, open, n);
    *is_open = result == TM_OK && open->count > 0 && open->numbers[open->at] == n;
    if (*is_open) {
        open->after = n;
        result = ++open->at == open->count ? read_unacked(sw, open) : TM_OK;
    }
    return result;
}

/* ---- rows ---- */

static void fill_book(tm_switch *sw, const tm_log_record *record) {
    tm_kept row = {.n = record->n, .place = KEPT_NO_PLACE, .size = record->body_size, .tried = KEPT_NO_TRY};
    tm_index_append(&keep_at(sw, KEEP_BOOK)->index, &row);
}

/* What cannot be read is lost when it is to be given out. */
static tm_kept lost_row(const tm_switch *sw, uint64_t n) {
    return (tm_kept){.n = n, .place = KEPT_NO_PLACE, .at_ms = keep_wall_ms(sw), .tried = KEPT_NO_TRY};
}

static int fill_one(tm_switch *sw, uint32_t slot, const tm_log_record *record, unacked *open) {
    tm_keep *keep = keep_at(sw, slot);
    if (!keep_reserve(sw, keep)) {
        return TM_NO_MEMORY;
    }
    bool is_lost = record->kind == TM_LOG_LOST;
    if (slot == KEEP_BOOK && is_lost) { /* it may have counted losses, of any keep */
        keep_note_done(sw, TM_KEEPS_BOOK, record->n, record->n);
        return tm_log_doubt(sw->keeps->log, record->n) ? TM_OK : TM_NO_MEMORY;
    }
    if (slot == KEEP_BOOK) {
        fill_book(sw, record);
        const uint8_t *body = (const uint8_t *)(record + 1) + (record->keeps + 1U) / 2 * 8;
        bool is_tally =
            record->kind == TM_LOG_DEAD_LETTER && record->body_size == sizeof(tm_log_done) + sizeof(tm_keep_tally);
        return !is_tally || note_tally(sw, record, body) ? TM_OK : TM_NO_MEMORY;
    }
    tm_body body;
    if (!is_lost && !keep_frame_of(record, &body)) {
        return TM_OK;
    }
    tm_kept row = is_lost ? lost_row(sw, record->n) : keep_row(sw, keep, record->n, body.at_ms, body.frame, body.size);
    bool is_open = true;
    int result = open->claimant != 0 ? take_unacked(sw, open, record->n, &is_open) : TM_OK;
    row.state = is_open ? KEPT_OPEN : KEPT_PAST;
    row.is_letter = record->kind == TM_LOG_DEAD_LETTER;
    if (result == TM_OK) {
        keep_put(sw, slot, &row);
    }
    return result;
}

/* What was read last; it grows to the longest record. */
typedef struct piece {
    uint8_t *bytes; /* owned */
    size_t capacity;
    size_t size;
} piece;

/* Read on; 0 bytes: there is no more. */
static int read_on(tm_switch *sw, uint32_t slot, uint64_t after, piece *p) {
    tm_keeps *keeps = sw->keeps;
    int result = TM_TOO_MANY;
    for (p->size = PIECE_BYTES; result == TM_TOO_MANY;) {
        if (p->size > p->capacity) {
            uint8_t *bytes = TM_RESIZE(&keeps->memory, TM_COLD, p->bytes, uint8_t, p->capacity, p->size);
            if (bytes == NULL) {
                return TM_NO_MEMORY;
            }
            p->bytes = bytes;
            p->capacity = p->size;
        }
        result = tm_log_read(keeps->log, keep_at(sw, slot)->number, 0, after, p->bytes, p->capacity, &p->size);
    }
    return result;
}

static int fill(tm_switch *sw, uint32_t slot, piece *p, unacked *open) {
    uint64_t after = 0;
    int result = open->claimant != 0 ? read_unacked(sw, open) : TM_OK;
    for (p->size = 1; result == TM_OK && p->size > 0;) {
        result = read_on(sw, slot, after, p);
        for (size_t at = 0; result == TM_OK && at < p->size;) {
            const tm_log_record *record = (const tm_log_record *)(p->bytes + at);
            result = fill_one(sw, slot, record, open);
            after = record->n;
            at += record->size;
        }
    }
    return result == TM_OK && open->claimant != 0 ? pass_unacked(sw, open, UINT64_MAX) : result;
}

int keep_fill(tm_switch *sw, uint32_t slot) {
    const tm_keep *keep = keep_at(sw, slot);
    unacked open = {.claimant = slot != KEEP_BOOK && keep_keeps_past(keep) ? keep->number | KEEP_UNACKED : 0};
    piece p = {0};
    int result = fill(sw, slot, &p, &open);
    TM_DELETE(&sw->keeps->memory, TM_COLD, p.bytes, uint8_t, p.capacity);
    return result;
}

int tm_keep_recover(tm_switch *sw, uint32_t number, uint64_t since) {
    uint32_t slot = sw != NULL && sw->keeps != NULL ? keep_slot(sw, number) : KEEP_NONE;
    if (slot == KEEP_NONE || slot == KEEP_BOOK || keep_at(sw, slot)->appended > 0) {
        return TM_MISUSED;
    }
    tm_keep *keep = keep_at(sw, slot);
    take_tallies(sw, keep);
    for (unsigned how = 0; how < LEFT_WAYS; how++) {
        keep->appended += keep->tally.left[how];
    }
    int result = keep_fill(sw, slot);
    return result == TM_OK ? keep_doubt(sw, slot, since) : result;
}
