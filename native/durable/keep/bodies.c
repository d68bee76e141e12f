/* bodies.c - see bodies.h.
 *
 * Law: nothing here waits for a disk. A thread reads records that have left the memory of the log, one piece for a
 * subscription at a time, and the subscription continues when the piece has arrived. A position within the range of a
 * piece but not in it cannot be read.
 */
#include "durable/keep/bodies.h"

#include "durable/keep/table.h"
#include "durable/tables/cold.h"

#define COLD_AGAIN_MS 1000U

bool keep_frame_of(const tm_log_record *record, tm_body *body) {
    const uint8_t *at = (const uint8_t *)(record + 1) + (record->keeps + 1U) / 2 * 8;
    at += record->homes * sizeof(tm_log_home);
    *body = (tm_body){.frame = at, .size = record->body_size, .at_ms = record->t_us / 1000};
    if (record->kind == TM_LOG_DEAD_LETTER) {
        tm_keep_letter letter;
        uint32_t head = sizeof(tm_log_done) + sizeof letter;
        if (record->body_size < head) {
            return false;
        }
        memcpy(&letter, at + sizeof(tm_log_done), sizeof letter);
        if (letter.reason_size > record->body_size - head) {
            return false;
        }
        head += letter.reason_size;
        *body = (tm_body){.frame = at + head, .size = record->body_size - head, .at_ms = letter.at_ms};
    }
    bool has_frame =
        record->kind == TM_LOG_MESSAGE || record->kind == TM_LOG_SEED || record->kind == TM_LOG_DEAD_LETTER;
    return has_frame && body->size >= WIRE_HEADER_BYTES && tm_load32(body->frame) == body->size;
}

/* ---- files ---- */

void keep_drop_cold(tm_switch *sw, tm_keep *keep) {
    tm_cold_read *read = keep->cold;
    keep->cold = NULL;
    if (read != NULL && read->is_asked) {
        read->is_orphan = true;
    } else if (read != NULL) {
        TM_DELETE(&sw->keeps->memory, TM_COLD, read->bytes, uint8_t, read->capacity);
        TM_DELETE(&sw->keeps->memory, TM_COLD, read, tm_cold_read, 1);
    }
}

static void drop_orphan(tm_switch *sw, tm_cold_read *read) {
    TM_DELETE(&sw->keeps->memory, TM_COLD, read->bytes, uint8_t, read->capacity);
    TM_DELETE(&sw->keeps->memory, TM_COLD, read, tm_cold_read, 1);
}

void keep_collect_cold(tm_switch *sw) {
    tm_cold_read *read = tm_cold_done(&sw->keeps->cold);
    while (read != NULL) {
        tm_cold_read *next = read->next;
        read->is_asked = false;
        uint32_t slot = keep_slot(sw, read->holder);
        if (read->is_orphan || slot == KEEP_NONE) {
            drop_orphan(sw, read);
        } else {
            tm_keep *keep = keep_at(sw, slot);
            keep->cold_at = 0;
            keep->cold_again_ms = read->result == TM_OK || read->result == TM_TOO_MANY ? 0 : sw->now_ms + COLD_AGAIN_MS;
            keep_make_due(sw, slot);
        }
        read = next;
    }
}

/* Reserve memory for a read; false: no memory. */
static bool make_room(tm_switch *sw, tm_keep *keep, size_t wanted) {
    tm_memory *memory = &sw->keeps->memory;
    if (keep->cold == NULL) {
        keep->cold = TM_NEW(memory, TM_COLD, tm_cold_read, 1);
    }
    if (keep->cold == NULL) {
        return false;
    }
    if (wanted > keep->cold->capacity) {
        uint8_t *bytes = TM_RESIZE(memory, TM_COLD, keep->cold->bytes, uint8_t, keep->cold->capacity, wanted);
        if (bytes == NULL) {
            return false;
        }
        keep->cold->bytes = bytes;
        keep->cold->capacity = wanted;
    }
    return true;
}

static void ask(tm_switch *sw, tm_keep *keep, uint64_t n) {
    size_t wanted = KEEP_COLD_BYTES;
    if (keep->cold != NULL && keep->cold->result == TM_TOO_MANY && keep->cold->size > wanted) {
        wanted = keep->cold->size;
    }
    if (sw->now_ms < keep->cold_again_ms) {
        return;
    }
    if (!make_room(sw, keep, wanted)) {
        keep->cold_again_ms = sw->now_ms + COLD_AGAIN_MS;
        return;
    }
    keep->cold->after = n - 1;
    keep->cold->holder = keep->number;
    keep->cold->size = 0;
    sw->keeps->stats.cold_reads++;
    tm_cold_ask(&sw->keeps->cold, keep->cold);
}

/* Return the record of a position in the last piece. NULL: it is not there; `*in_reach` is then true if the piece
 * covers the position. */
static const tm_log_record *look(tm_keep *keep, uint64_t n, bool *in_reach) {
    const tm_cold_read *read = keep->cold;
    uint64_t last = read->size == 0 ? read->after + 1 : 0;
    if (keep->cold_at < read->size && ((const tm_log_record *)(read->bytes + keep->cold_at))->n > n) {
        keep->cold_at = 0;
    }
    for (size_t at = keep->cold_at; at < read->size;) {
        const tm_log_record *record = (const tm_log_record *)(read->bytes + at);
        if (record->n == n) {
            keep->cold_at = (uint32_t)at;
            return record;
        }
        last = record->n;
        at += record->size;
    }
    *in_reach = n > read->after && n <= last;
    return NULL;
}

static tm_body_result from_files(tm_switch *sw, tm_keep *keep, uint64_t n, tm_body *body) {
    const tm_cold_read *read = keep->cold;
    if (read != NULL && read->is_asked) {
        return BODY_LATER;
    }
    if (read != NULL && read->capacity > 0 && read->result == TM_OK) {
        bool in_reach;
        const tm_log_record *record = look(keep, n, &in_reach);
        if (record != NULL && keep_frame_of(record, body)) {
            return BODY_FOUND;
        }
        if (record != NULL || in_reach) {
            return BODY_MISSING;
        }
    }
    ask(sw, keep, n);
    return BODY_LATER;
}

tm_body_result keep_body(tm_switch *sw, uint32_t slot, tm_kept *row, tm_body *body) {
    if (row->place != KEPT_NO_PLACE) {
        uint64_t place = row->place;
        uint32_t is_behind;
        const tm_log_record *record = tm_log_pending(sw->keeps->log, &place, &is_behind);
        if (record != NULL && record->n == row->n && keep_frame_of(record, body)) {
            return BODY_FOUND;
        }
        row->place = KEPT_NO_PLACE;
    }
    return from_files(sw, keep_at(sw, slot), row->n, body);
}
