/* record.c - see record.h.
 *
 * Law: sampling is that of message records, by id or by predicate, and applies to the whole life of a message; its row
 * holds the decision. Losses that are reported to a consumer are always recorded. A router without records only tests
 * that bit.
 */
#include "durable/keep/record.h"

#include "durable/keep/table.h"

#define NS_PER_US 1000U

static bool are_kept(const tm_switch *sw) {
    return sw->records != NULL && sw->records->kept_prefix_size > 0;
}

static bool is_wanted(const tm_switch *sw, const uint8_t *frame) {
    tm_attribute attributes[TM_ATTRIBUTES_MAX];
    size_t count = keep_attributes_of(frame, attributes);
    uint64_t bits = 0;
    tm_query query = {.group_count = 1};
    tm_hits hits = {.bits = &bits};
    return tm_table_match(sw->records->wanted, attributes, count, &query, &hits) == TM_OK && bits != 0;
}

bool keep_is_recorded(const tm_switch *sw, const uint8_t *frame) {
    if (!are_kept(sw)) {
        return false;
    }
    if (sw->records->wanted != NULL) {
        return is_wanted(sw, frame);
    }
    return tm_records_sample(sw->records, tm_load64(frame + WIRE_ORIGIN), tm_load64(frame + WIRE_COUNTER));
}

bool keep_are_all_recorded(const tm_switch *sw) {
    return are_kept(sw) && sw->records->wanted == NULL && sw->records->share == UINT64_MAX;
}

bool keep_are_some_recorded(const tm_switch *sw) {
    return are_kept(sw) && !keep_are_all_recorded(sw);
}

static void note(tm_switch *sw, tm_kept_record shape) {
    shape.t_us = tm_clock_unix_ns() / NS_PER_US;
    tm_records_note_kept(sw->records, &shape);
}

void keep_record_kept(tm_switch *sw, const tm_keep *keep, const tm_kept *row, const tm_kept_keys *keys, tm_kept_id id,
                      tm_kept_source source) {
    if (row->is_recorded) {
        note(sw, (tm_kept_record){.what = KEPT_KEPT,
                                  .source = (uint8_t)source,
                                  .maybe_duplicate = row->maybe_duplicate,
                                  .position = row->n,
                                  .origin = id.origin,
                                  .number = id.number,
                                  .expires_ms = keys->expires_ms,
                                  .keep = keep->number,
                                  .connection = UINT32_MAX});
    }
}

void keep_record_given(tm_switch *sw, const tm_member *member, const tm_kept *row, tm_kept_id id, uint32_t deliveries,
                       bool maybe_duplicate) {
    if (row->is_recorded) {
        note(sw, (tm_kept_record){.what = row->state == KEPT_PAST ? KEPT_REPLAYED : KEPT_GIVEN,
                                  .maybe_duplicate = maybe_duplicate,
                                  .position = row->n,
                                  .origin = id.origin,
                                  .number = id.number,
                                  .keep = keep_at(sw, member->keep)->number,
                                  .connection = member->connection,
                                  .deliveries = deliveries});
    }
}

void keep_record_left(tm_switch *sw, const tm_keep *keep, const tm_kept *row, tm_leaving how) {
    _Static_assert((int)KEPT_ACKED == (int)LEFT_ACKED && (int)KEPT_SKIPPED == (int)LEFT_SKIPPED, "one order");
    if (!row->is_recorded) {
        return;
    }
    const tm_attempt *attempt = row->attempt != KEPT_NO_ATTEMPT ? &sw->keeps->attempts.rows[row->attempt] : NULL;
    bool is_held = attempt != NULL && attempt->holder != MEMBER_NONE;
    note(sw, (tm_kept_record){.what = (uint8_t)how,
                              .position = row->n,
                              .keep = keep->number,
                              .total = keep_is_loss(how) ? keep_account(keep)->tally.left[how] + 1 : 0,
                              .connection = is_held ? keep_member(sw, attempt->holder)->connection : UINT32_MAX,
                              .deliveries = attempt != NULL ? attempt->deliveries : 0});
}

void keep_record_told(tm_switch *sw, const tm_keep *keep, tm_leaving how, uint32_t connection) {
    if (are_kept(sw)) {
        note(sw, (tm_kept_record){.what = KEPT_TOLD,
                                  .lost = (uint8_t)how,
                                  .keep = keep->number,
                                  .total = keep_account(keep)->told[how],
                                  .connection = connection});
    }
}
