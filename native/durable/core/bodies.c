/* bodies.c - see bodies.h.
 *
 * Law: nothing here waits for a disk. A thread reads records that have left the memory of the log, one piece for a
 * subscription at a time, and the subscription continues when the piece has arrived. A position within the range of a
 * piece but not in it cannot be read.
 */
#include "durable/core/bodies.h"

#include "durable/core/table.h"
#include "durable/tables/cold.h"

#define COLD_AGAIN_MS 1000U

bool durable_frame_of(const tm_log_record *record, tm_body *body) {
    const uint8_t *at = (const uint8_t *)(record + 1) + (record->durables + 1U) / 2 * 8;
    at += record->homes * sizeof(tm_log_home);
    *body = (tm_body){.frame = at, .size = record->body_size, .at_ms = record->t_us / 1000};
    if (record->kind == TM_LOG_DEAD_LETTER) {
        tm_dead_letter dead_letter;
        uint32_t head = sizeof(tm_log_done) + sizeof dead_letter;
        if (record->body_size < head) {
            return false;
        }
        memcpy(&dead_letter, at + sizeof(tm_log_done), sizeof dead_letter);
        if (dead_letter.reason_size > record->body_size - head) {
            return false;
        }
        head += dead_letter.reason_size;
        *body = (tm_body){.frame = at + head, .size = record->body_size - head, .at_ms = dead_letter.at_ms};
    }
    bool has_frame =
        record->kind == TM_LOG_MESSAGE || record->kind == TM_LOG_SEED || record->kind == TM_LOG_DEAD_LETTER;
    return has_frame && body->size >= WIRE_HEADER_BYTES && tm_load32(body->frame) == body->size;
}

/* ---- files ---- */

void durable_drop_cold(tm_switch *sw, tm_durable *durable) {
    tm_cold_read *read = durable->cold;
    durable->cold = NULL;
    if (read != NULL && read->is_asked) {
        read->is_orphan = true;
    } else if (read != NULL) {
        TM_DELETE(&sw->durables->memory, TM_COLD, read->bytes, uint8_t, read->capacity);
        TM_DELETE(&sw->durables->memory, TM_COLD, read, tm_cold_read, 1);
    }
}

static void drop_orphan(tm_switch *sw, tm_cold_read *read) {
    TM_DELETE(&sw->durables->memory, TM_COLD, read->bytes, uint8_t, read->capacity);
    TM_DELETE(&sw->durables->memory, TM_COLD, read, tm_cold_read, 1);
}

void durable_collect_cold(tm_switch *sw) {
    tm_cold_read *read = tm_cold_done(&sw->durables->cold);
    while (read != NULL) {
        tm_cold_read *next = read->next;
        read->is_asked = false;
        uint32_t slot = durable_slot(sw, read->holder);
        if (read->is_orphan || slot == DURABLE_NONE) {
            drop_orphan(sw, read);
        } else {
            tm_durable *durable = durable_at(sw, slot);
            durable->cold_at = 0;
            durable->cold_again_ms =
                read->result == TM_OK || read->result == TM_TOO_MANY ? 0 : sw->now_ms + COLD_AGAIN_MS;
            durable_make_due(sw, slot);
        }
        read = next;
    }
}

/* Reserve memory for a read; false: no memory. */
static bool make_room(tm_switch *sw, tm_durable *durable, size_t wanted) {
    tm_memory *memory = &sw->durables->memory;
    if (durable->cold == NULL) {
        durable->cold = TM_NEW(memory, TM_COLD, tm_cold_read, 1);
    }
    if (durable->cold == NULL) {
        return false;
    }
    if (wanted > durable->cold->capacity) {
        uint8_t *bytes = TM_RESIZE(memory, TM_COLD, durable->cold->bytes, uint8_t, durable->cold->capacity, wanted);
        if (bytes == NULL) {
            return false;
        }
        durable->cold->bytes = bytes;
        durable->cold->capacity = wanted;
    }
    return true;
}

static void ask(tm_switch *sw, tm_durable *durable, uint64_t n) {
    size_t wanted = DURABLE_COLD_BYTES;
    if (durable->cold != NULL && durable->cold->result == TM_TOO_MANY && durable->cold->size > wanted) {
        wanted = durable->cold->size;
    }
    if (sw->now_ms < durable->cold_again_ms) {
        return;
    }
    if (!make_room(sw, durable, wanted)) {
        durable->cold_again_ms = sw->now_ms + COLD_AGAIN_MS;
        return;
    }
    durable->cold->after = n - 1;
    durable->cold->holder = durable->number;
    durable->cold->size = 0;
    sw->durables->stats.cold_reads++;
    tm_cold_ask(&sw->durables->cold, durable->cold);
}

/* Return the record of a position in the last piece. NULL: it is not there; `*in_reach` is then true if the piece
 * covers the position. */
static const tm_log_record *look(tm_durable *durable, uint64_t n, bool *in_reach) {
    const tm_cold_read *read = durable->cold;
    uint64_t last = read->size == 0 ? read->after + 1 : 0;
    if (durable->cold_at < read->size && ((const tm_log_record *)(read->bytes + durable->cold_at))->n > n) {
        durable->cold_at = 0;
    }
    for (size_t at = durable->cold_at; at < read->size;) {
        const tm_log_record *record = (const tm_log_record *)(read->bytes + at);
        if (record->n == n) {
            durable->cold_at = (uint32_t)at;
            return record;
        }
        last = record->n;
        at += record->size;
    }
    *in_reach = n > read->after && n <= last;
    return NULL;
}

static tm_body_result from_files(tm_switch *sw, tm_durable *durable, uint64_t n, tm_body *body) {
    const tm_cold_read *read = durable->cold;
    if (read != NULL && read->is_asked) {
        return BODY_LATER;
    }
    if (read != NULL && read->capacity > 0 && read->result == TM_OK) {
        bool in_reach;
        const tm_log_record *record = look(durable, n, &in_reach);
        if (record != NULL && durable_frame_of(record, body)) {
            return BODY_FOUND;
        }
        if (record != NULL || in_reach) {
            return BODY_MISSING;
        }
    }
    ask(sw, durable, n);
    return BODY_LATER;
}

tm_body_result durable_body(tm_switch *sw, uint32_t slot, tm_stored_row *row, tm_body *body) {
    if (row->place != ROW_NO_PLACE) {
        uint64_t place = row->place;
        uint32_t is_behind;
        const tm_log_record *record = tm_log_pending(sw->durables->log, &place, &is_behind);
        if (record != NULL && record->n == row->n && durable_frame_of(record, body)) {
            return BODY_FOUND;
        }
        row->place = ROW_NO_PLACE;
    }
    return from_files(sw, durable_at(sw, slot), row->n, body);
}
