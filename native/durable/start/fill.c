/* fill.c - see fill.h.
 *
 * Law: a subscription gets its open messages, losses and past messages from the log; past are the messages that the log
 * has for the subscription but not for its second holder, DURABLE_UNACKED. The disk is read before the router serves:
 * the indexes of the log, and only those records of which a row needs more, such as keys or the reason of a dead
 * letter.
 */
#include "durable/start/fill.h"

#include "base/tested.h"
#include "durable/core/append.h"
#include "durable/core/bodies.h"
#include "durable/core/done.h"
#include "durable/core/elsewhere.h"
#include "durable/core/record.h"
#include "durable/core/table.h"
#include "durable/messages/rows.h"
#include "durable/start/counts.h"
#include "durable/start/damage.h"
#include "durable/tables/index.h"

#ifdef TM_TESTED
#define PIECE_BYTES 2048U /* less than the longest record of a test, so that it has to grow */
#define FEW_SUMMARIES 4U
#else
#define PIECE_BYTES (1U << 20)
#define FEW_SUMMARIES 64U
#endif
#define SUMMARIES_PIECE 4096U
#define UNACKED_PIECE 512U

/* ---- past messages ---- */

/* Messages of a subscription that are not acknowledged, by number, a piece at a time. */
typedef struct unacked {
    uint32_t holder; /* 0: the subscription retains no acknowledged messages, so all of its messages are open */
    uint64_t after;
    size_t count;
    size_t at;
    tm_log_summary summaries[UNACKED_PIECE];
} unacked;

static int read_unacked(tm_switch *sw, unacked *open) {
    open->at = 0;
    return tm_log_summaries(sw->durables->log, open->holder, 0, open->after, open->summaries, UNACKED_PIECE,
                            &open->count);
}

/* Pass numbers before `n`, which the subscription no longer has: a crash came between the two records of their end. */
static int pass_unacked(tm_switch *sw, unacked *open, uint64_t n) {
    int result = TM_OK;
    while (result == TM_OK && open->count > 0 && open->summaries[open->at].n < n) {
        open->after = open->summaries[open->at].n;
        durable_note_done(sw, open->holder, open->after, open->after);
        if (++open->at == open->count) {
            result = read_unacked(sw, open);
        }
    }
    return result;
}

static int take_unacked(tm_switch *sw, unacked *open, uint64_t n, bool *is_open) {
    int result = pass_unacked(sw, open, n);
    *is_open = result == TM_OK && open->count > 0 && open->summaries[open->at].n == n;
    if (*is_open) {
        open->after = n;
        result = ++open->at == open->count ? read_unacked(sw, open) : TM_OK;
    }
    return result;
}

/* ---- rows ---- */

static void fill_catalog(tm_switch *sw, const tm_log_record *record) {
    tm_stored_row row = {
        .n = record->n, .place = ROW_NO_PLACE, .size = record->body_size, .attempt = STORED_NO_ATTEMPT};
    tm_index_append(&durable_at(sw, DURABLE_CATALOG)->index, &row, NULL);
}

/* Return the row of a record that cannot be read; it is lost when it is to be delivered. */
static tm_stored_row lost_row(const tm_switch *sw, uint64_t n) {
    return (tm_stored_row){.n = n,
                           .place = ROW_NO_PLACE,
                           .at_ms = durable_wall_ms(sw),
                           .attempt = STORED_NO_ATTEMPT,
                           .is_recorded = durable_are_all_recorded(sw)};
}

/* Return the row of a message whose summary in the index of the log is sufficient. */
static tm_stored_row summary_row(const tm_switch *sw, const tm_log_summary *summary) {
    return (tm_stored_row){.n = summary->n,
                           .place = ROW_NO_PLACE,
                           .at_ms = summary->at_ms,
                           .size = summary->body_size,
                           .attempt = STORED_NO_ATTEMPT,
                           .is_recorded = durable_are_all_recorded(sw)};
}

static int put(tm_switch *sw, uint32_t slot, tm_stored_row *row, const tm_stored_keys *keys, tm_stored_id id,
               unacked *open) {
    bool is_open = true;
    int result = open->holder != 0 ? take_unacked(sw, open, row->n, &is_open) : TM_OK;
    row->state = is_open ? ROW_OPEN : ROW_PAST;
    if (result == TM_OK) {
        durable_put(sw, slot, row, keys, id);
    }
    return result;
}

static int fill_by_record(tm_switch *sw, uint32_t slot, const tm_log_record *record, unacked *open) {
    if (slot != DURABLE_CATALOG && record->kind == TM_DURABLES_UNKNOWN) {
        return durable_fill_unknown(sw, slot, record);
    }
    bool is_lost = record->kind == TM_LOG_LOST;
    const uint8_t *said = (const uint8_t *)(record + 1) + (record->durables + 1U) / 2 * 8;
    tm_body body = {0};
    bool has_frame = slot != DURABLE_CATALOG && !is_lost && durable_frame_of(record, &body);
    if (!durable_reserve(sw, durable_at(sw, slot), has_frame ? body.frame : NULL)) {
        return TM_NO_MEMORY;
    }
    if (slot == DURABLE_CATALOG && is_lost) { /* it may have counted losses of any subscription */
        durable_note_done(sw, TM_DURABLES_CATALOG, record->n, record->n);
        return tm_log_unknown(sw->durables->log, record->n) ? TM_OK : TM_NO_MEMORY;
    }
    if (slot == DURABLE_CATALOG) {
        fill_catalog(sw, record);
        return durable_note_counts(sw, record, said) ? TM_OK : TM_NO_MEMORY;
    }
    if (!is_lost && !has_frame) {
        return TM_OK;
    }
    tm_stored_keys keys = {0};
    tm_stored_row row =
        is_lost ? lost_row(sw, record->n)
                : durable_row(sw, durable_at(sw, slot), record->n, body.at_ms, body.frame, body.size, &keys);
    row.is_dead_letter = record->kind == TM_LOG_DEAD_LETTER;
    if (row.is_dead_letter && !durable_fold_dead_letter(sw, record, said, body.size)) {
        return TM_NO_MEMORY;
    }
    return put(sw, slot, &row, &keys, has_frame ? durable_id_of(body.frame) : (tm_stored_id){0}, open);
}

/* ---- reading ---- */

/* The summaries of a subscription, and the records read last, for those whose summary is not sufficient. */
typedef struct source {
    tm_log_summary few[FEW_SUMMARIES]; /* enough for most subscriptions, of which there may be thousands */
    tm_log_summary *summaries;         /* owned: room for SUMMARIES_PIECE; NULL: `few` was enough */
    uint8_t *bytes;                    /* owned; grows to the longest record */
    size_t capacity;
    size_t size;
    size_t at; /* of the next record in `bytes` */
} source;

/* Read records past `after`; 0 bytes: there are none. */
static int read_records(tm_switch *sw, uint32_t slot, uint64_t after, source *from) {
    tm_durables *durables = sw->durables;
    int result = TM_TOO_MANY;
    from->at = 0;
    for (from->size = PIECE_BYTES; result == TM_TOO_MANY;) {
        if (from->size > from->capacity) {
            uint8_t *bytes = TM_RESIZE(&durables->memory, TM_COLD, from->bytes, uint8_t, from->capacity, from->size);
            if (bytes == NULL) {
                from->size = 0;
                return TM_NO_MEMORY;
            }
            from->bytes = bytes;
            from->capacity = from->size;
        }
        uint32_t number = durable_at(sw, slot)->number;
        result = tm_log_read(durables->log, number, 0, after, from->bytes, from->capacity, &from->size);
    }
    return result;
}

/* Find the record of a number, which ascends from call to call; NULL: the subscription no longer has it. */
static int find_record(tm_switch *sw, uint32_t slot, uint64_t n, source *from, const tm_log_record **record) {
    int result = TM_OK;
    for (bool is_read = false; result == TM_OK; is_read = true) {
        while (from->at < from->size) {
            *record = (const tm_log_record *)(from->bytes + from->at);
            if ((*record)->n >= n) {
                *record = (*record)->n == n ? *record : NULL;
                return TM_OK;
            }
            from->at += (*record)->size;
        }
        if (is_read) {
            break;
        }
        result = read_records(sw, slot, n - 1, from);
    }
    *record = NULL;
    return result;
}

/* true if the rows of a subscription can be made from summaries. The records of the catalog are always read. */
static bool takes_summaries(const tm_switch *sw, uint32_t slot) {
    const tm_durable_policy *policy = slot != DURABLE_CATALOG ? durable_at(sw, slot)->policy : NULL;
    return policy != NULL && policy->order_by_size + policy->latest_by_size == 0 && policy->copies == 0 &&
           !durable_are_some_recorded(sw);
}

static int fill_one(tm_switch *sw, uint32_t slot, const tm_log_summary *summary, source *from, unacked *open) {
    if (summary->is_enough && takes_summaries(sw, slot)) {
        tm_durable *durable = durable_at(sw, slot);
        tm_stored_keys keys = {.expires_ms = summary->expires_ms};
        tm_stored_row row = summary_row(sw, summary);
        return durable_reserve_row(sw, durable, summary->expires_ms > 0)
                   ? put(sw, slot, &row, &keys, (tm_stored_id){0}, open)
                   : TM_NO_MEMORY;
    }
    const tm_log_record *record;
    int result = find_record(sw, slot, summary->n, from, &record);
    return result == TM_OK && record != NULL ? fill_by_record(sw, slot, record, open) : result;
}

static int fill(tm_switch *sw, uint32_t slot, source *from, unacked *open) {
    tm_log *log = sw->durables->log;
    uint32_t number = durable_at(sw, slot)->number;
    uint64_t after = 0;
    int result = open->holder != 0 ? read_unacked(sw, open) : TM_OK;
    for (bool has_more = true; result == TM_OK && has_more;) {
        tm_log_summary *summaries = from->summaries != NULL ? from->summaries : from->few;
        size_t room = from->summaries != NULL ? SUMMARIES_PIECE : FEW_SUMMARIES;
        size_t count = 0;
        result = tm_log_summaries(log, number, 0, after, summaries, room, &count);
        for (size_t i = 0; result == TM_OK && i < count; i++) {
            after = summaries[i].n;
            result = fill_one(sw, slot, &summaries[i], from, open);
        }
        has_more = count == room;
        if (result == TM_OK && has_more && from->summaries == NULL) {
            from->summaries = TM_NEW(&sw->durables->memory, TM_COLD, tm_log_summary, SUMMARIES_PIECE);
            result = from->summaries != NULL ? TM_OK : TM_NO_MEMORY;
        }
    }
    return result == TM_OK && open->holder != 0 ? pass_unacked(sw, open, UINT64_MAX) : result;
}

int durable_fill(tm_switch *sw, uint32_t slot) {
    const tm_durable *durable = durable_at(sw, slot);
    unacked open = {
        .holder = slot != DURABLE_CATALOG && durable_stores_past(durable) ? durable->number | DURABLE_UNACKED : 0};
    tm_memory *memory = &sw->durables->memory;
    source from = {.summaries = NULL};
    int result = fill(sw, slot, &from, &open);
    TM_DELETE(memory, TM_COLD, from.bytes, uint8_t, from.capacity);
    TM_DELETE(memory, TM_COLD, from.summaries, tm_log_summary, from.summaries != NULL ? SUMMARIES_PIECE : 0);
    return result;
}

int tm_durable_recover(tm_switch *sw, uint32_t number, uint64_t since) {
    uint32_t slot = sw != NULL && sw->durables != NULL ? durable_slot(sw, number) : DURABLE_NONE;
    if (slot == DURABLE_NONE || slot == DURABLE_CATALOG || durable_at(sw, slot)->appended > 0) {
        return TM_MISUSED;
    }
    tm_durable *durable = durable_at(sw, slot);
    if (!durable_take_counts(sw, durable)) {
        return TM_NO_MEMORY;
    }
    int result = TM_BREAKS(START_EMPTY) ? TM_OK : durable_fill(sw, slot);
    return result == TM_OK ? durable_unknown(sw, slot, since) : result;
}
