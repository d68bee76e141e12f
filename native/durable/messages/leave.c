/* leave.c - see leave.h.
 *
 * Law: a message is redelivered after a crash unless a record on disk states that the subscription is done with it.
 */
#include "durable/messages/leave.h"

#include "base/tested.h"
#include "durable/keep/attempts.h"
#include "durable/keep/done.h"
#include "durable/keep/elsewhere.h"
#include "durable/keep/latest.h"
#include "durable/keep/owners.h"
#include "durable/keep/record.h"
#include "durable/keep/table.h"
#include "durable/tables/attempts.h"
#include "durable/tables/index.h"

static void end_attempt(tm_switch *sw, tm_keep *keep, tm_kept *row) {
    tm_attempts *attempts = &sw->keeps->attempts;
    tm_attempt *attempt = &attempts->rows[row->attempt];
    keep->out -= attempt->state == ATTEMPT_OUT;
    keep->paused -= attempt->state == ATTEMPT_PAUSED;
    keep->dying -= attempt->is_dying;
    tm_heap_take(attempts, attempt->state == ATTEMPT_READY ? &keep->ready : &attempts->due, row->attempt);
    keep_unhold(sw, row->attempt);
    tm_attempts_end(attempts, row->attempt);
    row->attempt = KEPT_NO_ATTEMPT;
    keep->attempt_count--;
}

void keep_take_out(tm_switch *sw, uint32_t slot, uint32_t at, tm_leaving how, uint64_t *first) {
    tm_keep *keep = keep_at(sw, slot);
    tm_kept *row = &keep->index.rows[at];
    uint64_t n = row->n;
    bool was_open = row->state == KEPT_OPEN;
    if (keep->doubt_rows > 0 && how == LEFT_ACKED) {
        keep_pass_doubt(sw, slot, at);
    }
    if (was_open) {
        keep_record_left(sw, keep, row, how);
    }
    if (row->attempt != KEPT_NO_ATTEMPT) {
        end_attempt(sw, keep, row);
    }
    if (slot != KEEP_BOOK) {
        keep->open -= was_open;
        keep->past -= !was_open;
        keep->bytes -= row->size;
        keep_discharge(sw, keep, 1, row->size);
        keep->account->past_bytes -= was_open ? 0 : row->size;
        keep->account->tally.left[how] += was_open;
        keep->account->tally.bytes[how] += was_open ? row->size : 0;
        keep_forget_latest(keep, row);
    }
    tm_index_leave(&keep->index, at, first);
    if (was_open && slot != KEEP_BOOK && keep_keeps_past(keep)) {
        keep_note_done(sw, keep->number | KEEP_UNACKED, *first, n);
    }
}

uint64_t keep_go_past(tm_switch *sw, uint32_t slot, tm_kept *row, tm_leaving how) {
    tm_keep *keep = keep_at(sw, slot);
    if (keep->doubt_rows > 0) {
        keep_pass_doubt(sw, slot, (uint32_t)(row - keep->index.rows));
    }
    const tm_kept *before = row > &keep->index.rows[keep->index.first] ? row - 1 : NULL;
    keep_record_left(sw, keep, row, how);
    if (row->attempt != KEPT_NO_ATTEMPT) {
        end_attempt(sw, keep, row);
    }
    row->state = KEPT_PAST;
    keep->open--;
    keep->past++;
    keep->account->past_bytes += row->size;
    keep->account->tally.left[how]++;
    keep->account->tally.bytes[how] += row->size;
    return before == NULL ? 0 : before->n + (before->state == KEPT_OPEN);
}

void keep_leave(tm_switch *sw, uint32_t slot, uint32_t at, tm_leaving how) {
    tm_keep *keep = keep_at(sw, slot);
    tm_kept *row = &keep->index.rows[at];
    uint64_t n = row->n;
    uint64_t first;
    if (how == LEFT_ACKED && slot != KEEP_BOOK && keep_keeps_past(keep)) {
        first = keep_go_past(sw, slot, row, LEFT_ACKED);
        keep_note_done(sw, keep->number | KEEP_UNACKED, first, n);
        keep_make_due(sw, slot);
        return;
    }
    keep_take_out(sw, slot, at, how, &first);
    if (!TM_BREAKS(ACK_UNWRITTEN) || slot == KEEP_BOOK || how != LEFT_ACKED) {
        keep_note_done(sw, keep->number, first, n);
    }
    keep_make_due(sw, slot);
}

void keep_retire_book(tm_switch *sw, uint64_t n) {
    tm_index *index = &keep_at(sw, KEEP_BOOK)->index;
    uint32_t at = tm_index_from(index, n);
    if (at < index->end && index->rows[at].n == n && index->rows[at].state != KEPT_LEFT) {
        keep_leave(sw, KEEP_BOOK, at, LEFT_ACKED);
    }
}
