/* record.c - see record.h.
 *
 * Law: sampling is that of message records, by id or by predicate, and applies to the whole life of a message; its row
 * holds the decision. Losses that are reported to a consumer, and what a chain between routers lacks, are always
 * recorded. A router without records only tests that bit.
 */
#include "durable/core/record.h"

#include "durable/core/table.h"

#define NS_PER_US 1000U

static bool are_stored(const tm_switch *sw) {
    return sw->records != NULL && sw->records->stored_prefix_size > 0;
}

static bool is_wanted(const tm_switch *sw, const uint8_t *frame) {
    tm_attribute attributes[TM_ATTRIBUTES_MAX];
    size_t count = durable_attributes_of(frame, attributes);
    uint64_t bits = 0;
    tm_query query = {.group_count = 1};
    tm_hits hits = {.bits = &bits};
    return tm_table_match(sw->records->wanted, attributes, count, &query, &hits) == TM_OK && bits != 0;
}

bool durable_is_recorded(const tm_switch *sw, const uint8_t *frame) {
    if (!are_stored(sw)) {
        return false;
    }
    if (sw->records->wanted != NULL) {
        return is_wanted(sw, frame);
    }
    return tm_records_sample(sw->records, tm_load64(frame + WIRE_ORIGIN), tm_load64(frame + WIRE_COUNTER));
}

bool durable_are_all_recorded(const tm_switch *sw) {
    return are_stored(sw) && sw->records->wanted == NULL && sw->records->share == UINT64_MAX;
}

bool durable_are_some_recorded(const tm_switch *sw) {
    return are_stored(sw) && !durable_are_all_recorded(sw);
}

static void note(tm_switch *sw, tm_stored_record shape) {
    shape.t_us = tm_clock_unix_ns() / NS_PER_US;
    tm_records_note_stored(sw->records, &shape);
}

void durable_record_stored(tm_switch *sw, const tm_durable *durable, const tm_stored_row *row,
                           const tm_stored_keys *keys, tm_stored_id id, tm_stored_source source) {
    if (row->is_recorded) {
        note(sw, (tm_stored_record){.what = FATE_STORED,
                                    .source = (uint8_t)source,
                                    .maybe_duplicate = row->maybe_duplicate,
                                    .position = row->n,
                                    .origin = id.origin,
                                    .number = id.number,
                                    .expires_ms = keys->expires_ms,
                                    .durable = durable->number,
                                    .connection = UINT32_MAX});
    }
}

void durable_record_given(tm_switch *sw, const tm_consumer *consumer, const tm_stored_row *row, tm_stored_id id,
                          uint32_t deliveries, bool maybe_duplicate) {
    if (row->is_recorded) {
        note(sw, (tm_stored_record){.what = row->state == ROW_PAST ? FATE_REPLAYED : FATE_GIVEN,
                                    .maybe_duplicate = maybe_duplicate,
                                    .position = row->n,
                                    .origin = id.origin,
                                    .number = id.number,
                                    .durable = durable_at(sw, consumer->durable)->number,
                                    .connection = consumer->connection,
                                    .deliveries = deliveries});
    }
}

void durable_record_left(tm_switch *sw, const tm_durable *durable, const tm_stored_row *row, tm_leaving how) {
    _Static_assert((int)FATE_ACKED == (int)LEFT_ACKED && (int)FATE_SKIPPED == (int)LEFT_SKIPPED, "one order");
    if (!row->is_recorded) {
        return;
    }
    const tm_attempt *attempt = row->attempt != STORED_NO_ATTEMPT ? &sw->durables->attempts.rows[row->attempt] : NULL;
    bool is_held = attempt != NULL && attempt->holder != CONSUMER_NONE;
    note(sw, (tm_stored_record){.what = (uint8_t)how,
                                .position = row->n,
                                .durable = durable->number,
                                .total = durable_is_loss(how) ? durable_account(durable)->counts.left[how] + 1 : 0,
                                .connection = is_held ? durable_consumer(sw, attempt->holder)->connection : UINT32_MAX,
                                .deliveries = attempt != NULL ? attempt->deliveries : 0});
}

void durable_record_told(tm_switch *sw, const tm_durable *durable, tm_leaving how, uint32_t connection) {
    if (are_stored(sw)) {
        note(sw, (tm_stored_record){.what = FATE_TOLD,
                                    .lost = (uint8_t)how,
                                    .durable = durable->number,
                                    .total = durable_account(durable)->told[how],
                                    .connection = connection});
    }
}

/* ---- chains between routers ---- */

static void note_of_chain(tm_switch *sw, tm_fate what, uint64_t peer, const uint8_t *frame, uint64_t n) {
    if (durable_is_recorded(sw, frame)) {
        note(sw, (tm_stored_record){.what = (uint8_t)what,
                                    .peer = peer,
                                    .position = n,
                                    .origin = tm_load64(frame + WIRE_ORIGIN),
                                    .number = tm_load64(frame + WIRE_COUNTER),
                                    .connection = UINT32_MAX});
    }
}

static void note_lack(tm_switch *sw, tm_fate what, uint64_t peer, uint64_t first, uint64_t last, uint64_t messages) {
    if (are_stored(sw)) {
        note(sw, (tm_stored_record){.what = (uint8_t)what,
                                    .peer = peer,
                                    .first = first,
                                    .position = last,
                                    .total = messages,
                                    .connection = UINT32_MAX});
    }
}

void durable_record_entered(tm_switch *sw, uint64_t home, const uint8_t *frame, uint64_t n) {
    note_of_chain(sw, FATE_ENTERED, home, frame, n);
}

void durable_record_passed(tm_switch *sw, uint64_t entry, const uint8_t *frame, uint64_t n) {
    note_of_chain(sw, FATE_PASSED, entry, frame, n);
}

void durable_record_given_up(tm_switch *sw, uint64_t home, uint64_t first, uint64_t last, uint64_t messages) {
    note_lack(sw, FATE_GIVEN_UP, home, first, last, messages);
}

void durable_record_missed(tm_switch *sw, uint64_t entry, uint64_t first, uint64_t last, uint64_t messages) {
    note_lack(sw, FATE_MISSED, entry, first, last, messages);
}
