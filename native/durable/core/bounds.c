/* bounds.c - see bounds.h.
 *
 * Law: the answer depends only on what the subscription and its owner hold and on Unix time. The expiry scan takes a
 * bounded share of the time whatever the size of the subscription, so a message may leave late by a millisecond for
 * each EXPIRY_ROWS_PER_MS messages of the subscription.
 */
#include "durable/core/bounds.h"

#include "durable/core/owners.h"
#include "durable/core/table.h"
#include "durable/tables/index.h"

#define EXPIRY_ROWS_PER_MS 1024U

bool durable_has_room_of_own(const tm_durable *durable, uint32_t size) {
    uint64_t open = durable->bytes - durable_account(durable)->past_bytes; /* past messages are dropped for new ones */
    return open + size <= durable->policy->bytes_max &&
           (durable->policy->count_max == 0 || durable->open < durable->policy->count_max);
}

bool durable_has_room(const tm_switch *sw, const tm_durable *durable, uint32_t size) {
    return durable_has_room_of_own(durable, size) && durable_share_has_room(sw, durable, size);
}

uint64_t durable_end_of(const tm_durable *durable, const tm_stored_row *row) {
    uint64_t end = durable->policy->for_ms > 0 ? row->at_ms + durable->policy->for_ms : UINT64_MAX;
    uint64_t expires = tm_index_keys(&durable->index, row)->expires_ms;
    return expires > 0 && expires < end && row->state == ROW_OPEN ? expires : end;
}

bool durable_is_over(const tm_switch *sw, const tm_durable *durable, const tm_stored_row *row) {
    return durable_end_of(durable, row) <= sw->durables->turn_ms;
}

/* If messages expire each at a time of its own, a scan examines all of them, so scans are spaced by the number of
 * rows. */
void durable_note_end(const tm_switch *sw, tm_durable *durable, uint64_t end_ms) {
    const tm_index *index = &durable->index;
    uint64_t rest_ms = index->keys != NULL ? (index->end - index->first) / EXPIRY_ROWS_PER_MS : 0;
    uint64_t look_ms = sw->durables->turn_ms + rest_ms;
    look_ms = end_ms > look_ms ? end_ms : look_ms;
    durable->look_ms = look_ms < durable->look_ms ? look_ms : durable->look_ms;
}

bool durable_is_past_policy(const tm_durable *durable) {
    uint64_t count = (uint64_t)durable->open + durable->past;
    return durable->bytes > durable->policy->bytes_max ||
           (durable->policy->count_max > 0 && count > durable->policy->count_max);
}

bool durable_is_past_bounds(const tm_switch *sw, const tm_durable *durable) {
    return durable_is_past_policy(durable) || durable_is_past_share(sw, durable);
}
