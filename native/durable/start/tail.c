/* tail.c - see tail.h.
 *
 * Law: the last DURABLE_TAIL_RECORDS records, or those in DURABLE_TAIL_BYTES, are known, whatever has happened to their
 * messages: one that was acknowledged or lost is not stored a second time. A retry of an older one is stored again and
 * marked as a possible duplicate. What cannot be read is not known.
 */
#include "durable/start/tail.h"

#include "base/tested.h"
#include "durable/core/bodies.h"
#include "durable/custody/ids.h"
#include "durable/messages/lack.h"
#include "durable/tables/incomplete.h"
#include "durable/tables/times.h"
#include "switch/matching/counters.h"

#define DURABLE_TAIL_RECORDS (UINT64_C(1) << 20)
#define DURABLE_TAIL_BYTES (UINT64_C(512) << 20)
#ifdef TM_TESTED
#define READ_BYTES (8U << 10) /* more than a record of a test, and small, so that reading takes several pieces */
#else
#define READ_BYTES (4U << 20) /* more than the longest record */
#endif

/* A retry of a message that a subscription lacked follows the first publish, and is partial while a subscription lacks
 * it. Where a home lacks it, all homes get it again, as those that have it know its id (C11). */
static void note_lack(tm_switch *sw, const tm_log_record *record, tm_message_name name) {
    if ((record->flags & TM_LOG_PARTIAL) == 0 || (TM_BREAKS(FULL_HOME_FORGETS) && record->durables == 0)) {
        tm_incompletes_forget(&sw->durables->incomplete, name);
        return;
    }
    const uint32_t homes = DURABLE_HOMES;
    bool have_homes = record->homes > 0 && (record->flags & TM_LOG_LACKS_HOME) == 0;
    durable_note_incomplete(sw, name, &homes, have_homes);
    const uint32_t *holders = (const uint32_t *)(record + 1);
    for (uint32_t i = 0; i < record->durables; i++) {
        if ((holders[i] & DURABLE_UNACKED) == 0) {
            durable_note_incomplete(sw, name, &holders[i], 1);
        }
    }
}

/* Note a message that entered here, from its publisher or by another router; without memory it stays unknown. */
static void note(tm_switch *sw, const tm_log_record *record) {
    tm_body body;
    if (record->kind != TM_LOG_MESSAGE || !durable_frame_of(record, &body) || TM_BREAKS(RETRY_IS_NEW)) {
        return;
    }
    uint64_t origin = tm_load64(body.frame + WIRE_ORIGIN);
    uint64_t counter = tm_load64(body.frame + WIRE_COUNTER);
    if (tm_load64(body.frame + WIRE_TRANSIT) == sw->options.number) {
        uint32_t row = PUBLISHER_NONE;
        tm_publishers_enter(&sw->publishers, origin, counter, switch_counter_max(sw), &row);
        tm_publishers_note_stored(&sw->publishers, origin, counter);
    } else {
        bool is_fresh;
        tm_publishers_deliver(&sw->publishers, origin, counter, &is_fresh);
        if (!tm_custody_ids_has(&sw->durables->arrivals.ids, origin, counter)) {
            tm_custody_ids_note(&sw->durables->arrivals.ids, origin, counter);
        }
    }
    note_lack(sw, record, (tm_message_name){origin, counter});
}

int durable_read_tail(tm_switch *sw) {
    tm_durables *durables = sw->durables;
    uint8_t *bytes = TM_NEW(&durables->memory, TM_COLD, uint8_t, READ_BYTES);
    if (bytes == NULL) {
        return TM_NO_MEMORY;
    }
    tm_log_reach reach = {.from = tm_log_tail(durables->log, DURABLE_TAIL_RECORDS, DURABLE_TAIL_BYTES),
                          .until_us = UINT64_MAX};
    tm_log_place place = {0};
    tm_log_replayed replayed = {0};
    int result = TM_OK;
    while (result == TM_OK && !replayed.is_all) {
        size_t size = 0;
        result = tm_log_replay(durables->log, NULL, &reach, DURABLE_TAIL_RECORDS, &place, bytes, READ_BYTES, &size,
                               &replayed);
        for (size_t at = 0; result == TM_OK && at < size; at += ((const tm_log_record *)(bytes + at))->size) {
            const tm_log_record *record = (const tm_log_record *)(bytes + at);
            durables->ended_ms = record->t_us / 1000;
            tm_times_note(&durables->times, durables->ended_ms, record->n - 1);
            note(sw, record);
        }
    }
    TM_DELETE(&durables->memory, TM_COLD, bytes, uint8_t, READ_BYTES);
    return result == TM_NO_MEMORY ? TM_NO_MEMORY : TM_OK;
}
