/* expiry.c - see expiry.h.
 *
 * Law: the oldest messages leave first, and past ones before open ones. If the owner is past its share (owners.c), past
 * messages of the subscription leave, and if it drops, its oldest open ones. A message that is out does not expire
 * until it returns. No message is delivered or replayed after its expiry.
 */
#include "durable/messages/expiry.h"

#include "durable/core/bounds.h"
#include "durable/core/elsewhere.h"
#include "durable/core/owners.h"
#include "durable/core/table.h"
#include "durable/messages/losses.h"
#include "durable/tables/index.h"

#define AGAIN_MS 1000U     /* retry interval for expired rows that cannot leave now */
#define EXPIRY_ROWS 4096U  /* rows examined in a turn */
#define DROPPED_ROWS 4096U /* rows dropped in a turn */

static bool is_out(const tm_switch *sw, const tm_stored_row *row) {
    return row->attempt != STORED_NO_ATTEMPT && sw->durables->attempts.rows[row->attempt].state == ATTEMPT_OUT;
}

/* Let the row at a place leave if it has expired. Return when the row, if it stays, is to be examined again;
 * UINT64_MAX: never. */
static uint64_t end_row(tm_switch *sw, uint32_t slot, uint32_t at) {
    tm_durable *durable = durable_at(sw, slot);
    const tm_stored_row *row = &durable->index.rows[at];
    if (row->state == ROW_LEFT) {
        return UINT64_MAX;
    }
    if (!durable_is_over(sw, durable, row)) {
        return durable_end_of(durable, row);
    }
    if (row->state == ROW_UNKNOWN ||
        row->state == ROW_UNKNOWN_TOLD) { /* the messages that it covers would have expired, too */
        durable_drop_unknown(sw, slot, at);
        return UINT64_MAX;
    }
    return !is_out(sw, row) && durable_lose(sw, slot, at, LEFT_EXPIRED) ? UINT64_MAX : sw->durables->turn_ms + AGAIN_MS;
}

/* With one retention for all, messages expire in their order, so the scan ends at the first that stays. After the clock
 * was set back, rows behind that one wait for it. */
static void expire_in_order(tm_switch *sw, uint32_t slot) {
    tm_durable *durable = durable_at(sw, slot);
    uint64_t again_ms = UINT64_MAX;
    bool goes_on = true;
    for (uint32_t at = durable->index.first; at < durable->index.end && goes_on; at++) {
        uint64_t end_ms = end_row(sw, slot, at);
        again_ms = end_ms < again_ms ? end_ms : again_ms;
        const tm_stored_row *row = &durable->index.rows[at];
        goes_on = row->state == ROW_LEFT || durable_is_over(sw, durable, row);
    }
    durable->account->looked_to = 0;
    durable->look_ms = UINT64_MAX;
    durable_note_end(sw, durable, again_ms);
}

/* Examine a bounded number of rows from position `looked_to` on. */
static void expire_some(tm_switch *sw, uint32_t slot) {
    tm_durable *durable = durable_at(sw, slot);
    tm_durable_account *account = durable->account;
    uint32_t at = tm_index_from(&durable->index, account->looked_to);
    account->again_ms = account->looked_to == 0 ? UINT64_MAX : account->again_ms;
    for (uint32_t i = 0; i < EXPIRY_ROWS && at < durable->index.end; i++, at++) {
        uint64_t end_ms = end_row(sw, slot, at);
        account->again_ms = end_ms < account->again_ms ? end_ms : account->again_ms;
    }
    if (at < durable->index.end) {
        account->looked_to = durable->index.rows[at].n;
        durable_make_due(sw, slot);
        durable_wake(sw);
        return;
    }
    account->looked_to = 0;
    durable->look_ms = UINT64_MAX;
    durable_note_end(sw, durable, account->again_ms);
}

/* true if the oldest row of a state has to leave. A subscription that refuses retains its open rows whatever its owner
 * has. */
static bool has_to_leave(const tm_switch *sw, const tm_durable *durable, tm_stored_state state) {
    bool stays = state == ROW_OPEN && durable->policy->overflow == TM_DURABLE_REFUSE;
    return durable_is_past_policy(durable) || (!stays && durable_is_past_share(sw, durable));
}

static void drop_oldest(tm_switch *sw, uint32_t slot, tm_stored_state state) {
    tm_durable *durable = durable_at(sw, slot);
    uint32_t dropped = 0;
    for (uint32_t at = durable->index.first; at < durable->index.end && has_to_leave(sw, durable, state); at++) {
        if (dropped == DROPPED_ROWS) {
            durable_make_due(sw, slot);
            durable_wake(sw);
            return;
        }
        if (durable->index.rows[at].state == state) {
            if (!durable_lose(sw, slot, at, LEFT_DROPPED)) {
                return;
            }
            dropped++;
        }
    }
}

void durable_hold_to_policy(tm_switch *sw, uint32_t slot) {
    tm_durable *durable = durable_at(sw, slot);
    if (durable->look_ms <= sw->durables->turn_ms && durable->account != NULL) {
        (durable->index.keys == NULL ? expire_in_order : expire_some)(sw, slot);
    }
    if (durable->past > 0) {
        drop_oldest(sw, slot, ROW_PAST);
    }
    drop_oldest(sw, slot, ROW_OPEN);
}
