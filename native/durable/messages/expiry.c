/* expiry.c - see expiry.h.
 *
 * Law: the oldest messages leave first, and past ones before open ones. If the owner is past its share (owners.c), past
 * messages of the subscription leave, and if it drops, its oldest open ones. A message that is out does not expire
 * until it returns. No message is delivered or replayed after its expiry.
 */
#include "durable/messages/expiry.h"

#include "durable/keep/bounds.h"
#include "durable/keep/elsewhere.h"
#include "durable/keep/owners.h"
#include "durable/keep/table.h"
#include "durable/messages/losses.h"
#include "durable/tables/index.h"

#define AGAIN_MS 1000U     /* retry interval for expired rows that cannot leave now */
#define EXPIRY_ROWS 4096U  /* rows examined in a turn */
#define DROPPED_ROWS 4096U /* rows dropped in a turn */

static bool is_out(const tm_switch *sw, const tm_kept *row) {
    return row->attempt != KEPT_NO_ATTEMPT && sw->keeps->attempts.rows[row->attempt].state == ATTEMPT_OUT;
}

/* Let the row at a place leave if it has expired. Return when the row, if it stays, is to be examined again;
 * UINT64_MAX: never. */
static uint64_t end_row(tm_switch *sw, uint32_t slot, uint32_t at) {
    tm_keep *keep = keep_at(sw, slot);
    const tm_kept *row = &keep->index.rows[at];
    if (row->state == KEPT_LEFT) {
        return UINT64_MAX;
    }
    if (!keep_is_over(sw, keep, row)) {
        return keep_end_of(keep, row);
    }
    if (row->state == KEPT_DOUBT ||
        row->state == KEPT_DOUBT_TOLD) { /* the messages that it covers would have expired, too */
        keep_drop_doubt(sw, slot, at);
        return UINT64_MAX;
    }
    return !is_out(sw, row) && keep_lose(sw, slot, at, LEFT_EXPIRED) ? UINT64_MAX : sw->keeps->turn_ms + AGAIN_MS;
}

/* With one retention for all, messages expire in their order, so the scan ends at the first that stays. After the clock
 * was set back, rows behind that one wait for it. */
static void expire_in_order(tm_switch *sw, uint32_t slot) {
    tm_keep *keep = keep_at(sw, slot);
    uint64_t again_ms = UINT64_MAX;
    bool goes_on = true;
    for (uint32_t at = keep->index.first; at < keep->index.end && goes_on; at++) {
        uint64_t end_ms = end_row(sw, slot, at);
        again_ms = end_ms < again_ms ? end_ms : again_ms;
        const tm_kept *row = &keep->index.rows[at];
        goes_on = row->state == KEPT_LEFT || keep_is_over(sw, keep, row);
    }
    keep->account->looked_to = 0;
    keep->look_ms = UINT64_MAX;
    keep_note_end(sw, keep, again_ms);
}

/* Examine a bounded number of rows from position `looked_to` on. */
static void expire_some(tm_switch *sw, uint32_t slot) {
    tm_keep *keep = keep_at(sw, slot);
    tm_keep_account *account = keep->account;
    uint32_t at = tm_index_from(&keep->index, account->looked_to);
    account->again_ms = account->looked_to == 0 ? UINT64_MAX : account->again_ms;
    for (uint32_t i = 0; i < EXPIRY_ROWS && at < keep->index.end; i++, at++) {
        uint64_t end_ms = end_row(sw, slot, at);
        account->again_ms = end_ms < account->again_ms ? end_ms : account->again_ms;
    }
    if (at < keep->index.end) {
        account->looked_to = keep->index.rows[at].n;
        keep_make_due(sw, slot);
        keep_wake(sw);
        return;
    }
    account->looked_to = 0;
    keep->look_ms = UINT64_MAX;
    keep_note_end(sw, keep, account->again_ms);
}

/* true if the oldest row of a state has to leave. A subscription that refuses retains its open rows whatever its owner
 * has. */
static bool has_to_leave(const tm_switch *sw, const tm_keep *keep, tm_kept_state state) {
    bool stays = state == KEPT_OPEN && keep->terms->overflow == TM_KEEP_REFUSE;
    return keep_is_past_terms(keep) || (!stays && keep_is_past_share(sw, keep));
}

static void drop_oldest(tm_switch *sw, uint32_t slot, tm_kept_state state) {
    tm_keep *keep = keep_at(sw, slot);
    uint32_t dropped = 0;
    for (uint32_t at = keep->index.first; at < keep->index.end && has_to_leave(sw, keep, state); at++) {
        if (dropped == DROPPED_ROWS) {
            keep_make_due(sw, slot);
            keep_wake(sw);
            return;
        }
        if (keep->index.rows[at].state == state) {
            if (!keep_lose(sw, slot, at, LEFT_DROPPED)) {
                return;
            }
            dropped++;
        }
    }
}

void keep_hold_to_terms(tm_switch *sw, uint32_t slot) {
    tm_keep *keep = keep_at(sw, slot);
    if (keep->look_ms <= sw->keeps->turn_ms && keep->account != NULL) {
        (keep->index.keys == NULL ? expire_in_order : expire_some)(sw, slot);
    }
    if (keep->past > 0) {
        drop_oldest(sw, slot, KEPT_PAST);
    }
    drop_oldest(sw, slot, KEPT_OPEN);
}
