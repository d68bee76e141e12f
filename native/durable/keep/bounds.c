/* bounds.c - see bounds.h.
 *
 * Law: the answer depends only on what the subscription and its owner hold and on Unix time. The expiry scan takes a
 * bounded share of the time whatever the size of the subscription, so a message may leave late by a millisecond for
 * each EXPIRY_ROWS_PER_MS messages of the subscription.
 */
#include "durable/keep/bounds.h"

#include "durable/keep/owners.h"
#include "durable/keep/table.h"
#include "durable/tables/index.h"

#define EXPIRY_ROWS_PER_MS 1024U

bool keep_has_room_of_own(const tm_keep *keep, uint32_t size) {
    uint64_t open = keep->bytes - keep_account(keep)->past_bytes; /* past messages are dropped for new ones */
    return open + size <= keep->terms->bytes_max &&
           (keep->terms->count_max == 0 || keep->open < keep->terms->count_max);
}

bool keep_has_room(const tm_switch *sw, const tm_keep *keep, uint32_t size) {
    return keep_has_room_of_own(keep, size) && keep_share_has_room(sw, keep, size);
}

uint64_t keep_end_of(const tm_keep *keep, const tm_kept *row) {
    uint64_t end = keep->terms->for_ms > 0 ? row->at_ms + keep->terms->for_ms : UINT64_MAX;
    uint64_t expires = tm_index_keys(&keep->index, row)->expires_ms;
    return expires > 0 && expires < end && row->state == KEPT_OPEN ? expires : end;
}

bool keep_is_over(const tm_switch *sw, const tm_keep *keep, const tm_kept *row) {
    return keep_end_of(keep, row) <= sw->keeps->turn_ms;
}

/* If messages expire each at a time of its own, a scan examines all of them, so scans are spaced by the number of
 * rows. */
void keep_note_end(const tm_switch *sw, tm_keep *keep, uint64_t end_ms) {
    const tm_index *index = &keep->index;
    uint64_t rest_ms = index->keys != NULL ? (index->end - index->first) / EXPIRY_ROWS_PER_MS : 0;
    uint64_t look_ms = sw->keeps->turn_ms + rest_ms;
    look_ms = end_ms > look_ms ? end_ms : look_ms;
    keep->look_ms = look_ms < keep->look_ms ? look_ms : keep->look_ms;
}

bool keep_is_past_terms(const tm_keep *keep) {
    uint64_t count = (uint64_t)keep->open + keep->past;
    return keep->bytes > keep->terms->bytes_max || (keep->terms->count_max > 0 && count > keep->terms->count_max);
}

bool keep_is_past_bounds(const tm_switch *sw, const tm_keep *keep) {
    return keep_is_past_terms(keep) || keep_is_past_share(sw, keep);
}
