/* keep_bounds.c - what has to leave a keep by its terms.
 *
 * Law: the answer depends on what the keep has and on Unix time alone. The oldest go first, and before them what was
 * acknowledged and is kept on. What a member has does not expire: it is looked at again when it comes back.
 */
#include "switch/keeps.h"

#define AGAIN_MS 1000U /* what is over, and cannot leave now, is looked at again */

bool keep_has_room(const tm_keep *keep, uint32_t size) {
    uint64_t held = keep->bytes;
    if (keep->past > 0) { /* what is past gives way */
        held = 0;
        for (uint32_t at = keep->index.first; at < keep->index.end; at++) {
            held += keep->index.rows[at].state == KEPT_OPEN ? keep->index.rows[at].size : 0;
        }
    }
    return held + size <= keep->terms->bytes_max &&
           (keep->terms->count_max == 0 || keep->open < keep->terms->count_max);
}

static bool is_out(const tm_switch *sw, const tm_kept *row) {
    return row->tried != KEPT_NO_TRY && sw->keeps->tries.rows[row->tried].state == TRY_OUT;
}

static uint64_t end_of(const tm_keep *keep, const tm_kept *row) {
    uint64_t end = keep->terms->for_ms > 0 ? row->at_ms + keep->terms->for_ms : UINT64_MAX;
    uint64_t expires = row->state == KEPT_OPEN ? tm_index_keys(&keep->index, row)->expires_ms : 0;
    return expires > 0 && expires < end ? expires : end;
}

static void expire(tm_switch *sw, uint32_t slot, uint64_t now_ms) {
    tm_keep *keep = keep_at(sw, slot);
    uint64_t soonest = UINT64_MAX;
    for (uint32_t at = keep->index.first; at < keep->index.end; at++) {
        const tm_kept *row = &keep->index.rows[at];
        if (row->state == KEPT_LEFT) {
            continue;
        }
        uint64_t end = end_of(keep, row);
        if (end > now_ms || is_out(sw, row) || !keep_lose(sw, slot, at, LEFT_EXPIRED)) {
            uint64_t again = end > now_ms ? end : now_ms + AGAIN_MS;
            soonest = again < soonest ? again : soonest;
        }
    }
    keep->soonest_ms = soonest;
}

bool keep_is_past_bounds(const tm_keep *keep) {
    uint64_t count = (uint64_t)keep->open + keep->past;
    return keep->bytes > keep->terms->bytes_max || (keep->terms->count_max > 0 && count > keep->terms->count_max);
}

static void drop_oldest(tm_switch *sw, uint32_t slot, tm_kept_state state) {
    tm_keep *keep = keep_at(sw, slot);
    for (uint32_t at = keep->index.first; at < keep->index.end && keep_is_past_bounds(keep); at++) {
        if (keep->index.rows[at].state == state && !keep_lose(sw, slot, at, LEFT_DROPPED)) {
            return;
        }
    }
}

void keep_hold_to_terms(tm_switch *sw, uint32_t slot) {
    tm_keep *keep = keep_at(sw, slot);
    if (keep->soonest_ms <= sw->keeps->turn_ms) {
        expire(sw, slot, sw->keeps->turn_ms);
    }
    if (keep->past > 0 && keep_is_past_bounds(keep)) {
        drop_oldest(sw, slot, KEPT_PAST);
    }
    drop_oldest(sw, slot, KEPT_OPEN);
}
