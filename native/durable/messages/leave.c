/* leave.c - see leave.h.
 *
 * Law: a message is redelivered after a crash unless a record on disk states that the subscription is done with it.
 */
#include "durable/messages/leave.h"

#include "base/tested.h"
#include "durable/core/attempts.h"
#include "durable/core/copied.h"
#include "durable/core/done.h"
#include "durable/core/elsewhere.h"
#include "durable/core/latest.h"
#include "durable/core/owners.h"
#include "durable/core/record.h"
#include "durable/core/table.h"
#include "durable/tables/attempts.h"
#include "durable/tables/index.h"

void durable_end_attempt(tm_switch *sw, tm_durable *durable, tm_stored_row *row) {
    tm_attempts *attempts = &sw->durables->attempts;
    tm_attempt *attempt = &attempts->rows[row->attempt];
    durable->out -= attempt->state == ATTEMPT_OUT;
    durable->paused -= attempt->state == ATTEMPT_PAUSED;
    durable->dying -= attempt->is_dying;
    tm_heap_take(attempts, attempt->state == ATTEMPT_READY ? &durable->ready : &attempts->due, row->attempt);
    durable_resume(sw, row->attempt);
    tm_attempts_end(attempts, row->attempt);
    row->attempt = STORED_NO_ATTEMPT;
    durable->attempt_count--;
}

void durable_take_out(tm_switch *sw, uint32_t slot, uint32_t at, tm_leaving how, uint64_t *first) {
    tm_durable *durable = durable_at(sw, slot);
    tm_stored_row *row = &durable->index.rows[at];
    uint64_t n = row->n;
    bool was_open = row->state == ROW_OPEN;
    if (durable->unknown_rows > 0 && how == LEFT_ACKED) {
        durable_pass_unknown(sw, slot, at);
    }
    if (was_open) {
        durable_record_left(sw, durable, row, how);
        durable_end_copied(sw, durable, n, how);
    }
    if (row->attempt != STORED_NO_ATTEMPT) {
        durable_end_attempt(sw, durable, row);
    }
    if (slot != DURABLE_CATALOG) {
        durable->open -= was_open;
        durable->past -= !was_open;
        durable->bytes -= row->size;
        durable_discharge(sw, durable, 1, row->size);
        durable->account->past_bytes -= was_open ? 0 : row->size;
        durable->account->counts.left[how] += was_open;
        durable->account->counts.bytes[how] += was_open ? row->size : 0;
        durable_forget_latest(durable, row);
    }
    tm_index_leave(&durable->index, at, first);
    if (was_open && slot != DURABLE_CATALOG && durable_stores_past(durable)) {
        durable_note_done(sw, durable->number | DURABLE_UNACKED, *first, n);
    }
}

uint64_t durable_go_past(tm_switch *sw, uint32_t slot, tm_stored_row *row, tm_leaving how) {
    tm_durable *durable = durable_at(sw, slot);
    if (durable->unknown_rows > 0) {
        durable_pass_unknown(sw, slot, (uint32_t)(row - durable->index.rows));
    }
    const tm_stored_row *before = row > &durable->index.rows[durable->index.first] ? row - 1 : NULL;
    durable_record_left(sw, durable, row, how);
    durable_end_copied(sw, durable, row->n, how);
    if (row->attempt != STORED_NO_ATTEMPT) {
        durable_end_attempt(sw, durable, row);
    }
    row->state = ROW_PAST;
    durable->open--;
    durable->past++;
    durable->account->past_bytes += row->size;
    durable->account->counts.left[how]++;
    durable->account->counts.bytes[how] += row->size;
    return before == NULL ? 0 : before->n + (before->state == ROW_OPEN);
}

void durable_leave(tm_switch *sw, uint32_t slot, uint32_t at, tm_leaving how) {
    tm_durable *durable = durable_at(sw, slot);
    tm_stored_row *row = &durable->index.rows[at];
    uint64_t n = row->n;
    uint64_t first;
    if (how == LEFT_ACKED && slot != DURABLE_CATALOG && durable_stores_past(durable)) {
        first = durable_go_past(sw, slot, row, LEFT_ACKED);
        durable_note_done(sw, durable->number | DURABLE_UNACKED, first, n);
        durable_make_due(sw, slot);
        return;
    }
    durable_take_out(sw, slot, at, how, &first);
    if (!TM_BREAKS(ACK_UNWRITTEN) || slot == DURABLE_CATALOG || how != LEFT_ACKED) {
        durable_note_done(sw, durable->number, first, n);
    }
    durable_make_due(sw, slot);
}

void durable_retire_catalog(tm_switch *sw, uint64_t n) {
    tm_index *index = &durable_at(sw, DURABLE_CATALOG)->index;
    uint32_t at = tm_index_from(index, n);
    if (at < index->end && index->rows[at].n == n && index->rows[at].state != ROW_LEFT) {
        durable_leave(sw, DURABLE_CATALOG, at, LEFT_ACKED);
    }
}
