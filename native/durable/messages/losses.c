/* losses.c - see losses.h.
 *
 * Law: a loss and the total of all losses are one record, so the total is right after any crash; it is reported when
 * that record is on disk. Losses that cannot be written now are written later, in order.
 */
#include "durable/messages/losses.h"

#include "base/grow.h"
#include "durable/core/catalog.h"
#include "durable/core/table.h"
#include "durable/messages/leave.h"
#include "durable/tables/waits.h"

bool durable_reserve_loss(tm_switch *sw, tm_durable *durable) {
    return durable_open_account(sw, durable) &&
           tm_grow(&sw->durables->memory, TM_COLD, &durable->account->losses, sizeof *durable->account->losses,
                   &durable->account->loss_capacity, durable->loss_count + 1);
}

/* Record that numbers are lost, after the counts include them and durable_reserve_loss succeeded. */
static void note_loss(tm_switch *sw, tm_durable *durable, uint64_t first, uint64_t last, tm_leaving how) {
    tm_durable_account *account = durable->account;
    tm_durable_loss *before = durable->loss_count > 0 ? &account->losses[durable->loss_count - 1] : NULL;
    if (before != NULL && before->how == how && first <= before->last + 1 && first >= before->first &&
        last > before->last) {
        before->last = last;
        before->counts = account->counts;
    } else {
        account->losses[durable->loss_count++] = (tm_durable_loss){first, last, how, account->counts};
        sw->durables->losses++;
    }
}

bool durable_lose(tm_switch *sw, uint32_t slot, uint32_t at, tm_leaving how) {
    tm_durable *durable = durable_at(sw, slot);
    if (durable->index.rows[at].state == ROW_PAST) { /* it was acknowledged before */
        durable_leave(sw, slot, at, how);
        return true;
    }
    if (!durable_reserve_loss(sw, durable)) {
        return false;
    }
    uint64_t n = durable->index.rows[at].n;
    uint64_t first;
    durable_take_out(sw, slot, at, how, &first);
    note_loss(sw, durable, first, n, how);
    durable_make_due(sw, slot);
    return true;
}

/* Add unstored messages to the counts; without memory, a later call does. */
static void counts_unstored(tm_switch *sw, tm_durable *durable) {
    if (durable->unstored == 0 || !durable_reserve_loss(sw, durable)) {
        return;
    }
    durable->appended += durable->unstored;
    durable->account->counts.left[durable->unstored_how] += durable->unstored;
    durable->account->counts.bytes[durable->unstored_how] += durable->unstored_bytes;
    note_loss(sw, durable, 0, 0, (tm_leaving)durable->unstored_how);
    durable->unstored = durable->unstored_bytes = 0;
}

void durable_lose_unstored(tm_switch *sw, uint32_t slot, uint32_t size, tm_leaving how) {
    tm_durable *durable = durable_at(sw, slot);
    if (durable->unstored_how != how) {
        counts_unstored(sw, durable);
    }
    durable->unstored_how = durable->unstored == 0 ? (uint8_t)how : durable->unstored_how;
    durable->unstored += durable->unstored < UINT32_MAX;
    durable->unstored_bytes +=
        size < UINT32_MAX - durable->unstored_bytes ? size : UINT32_MAX - durable->unstored_bytes;
}

/* true if a subscription retains messages with this outcome; the loss is then one of the holder DURABLE_UNACKED. */
static bool is_kept_on(const tm_durable *durable, tm_leaving how) {
    return how == LEFT_SKIPPED && durable_stores_past(durable);
}

bool durable_skip(tm_switch *sw, uint32_t slot, uint32_t at) {
    tm_durable *durable = durable_at(sw, slot);
    if (!is_kept_on(durable, LEFT_SKIPPED)) {
        return durable_lose(sw, slot, at, LEFT_SKIPPED);
    }
    if (!durable_reserve_loss(sw, durable)) {
        return false;
    }
    tm_stored_row *row = &durable->index.rows[at];
    note_loss(sw, durable, durable_go_past(sw, slot, row, LEFT_SKIPPED), row->n, LEFT_SKIPPED);
    durable_make_due(sw, slot);
    return true;
}

void durable_note_counts_due(tm_switch *sw, tm_durable *durable) {
    tm_durable_account *account = durable->account;
    tm_durable_loss *before = durable->loss_count > 0 ? &account->losses[durable->loss_count - 1] : NULL;
    if (before != NULL && before->how == LEFT_DEAD) {
        before->counts = account->counts;
        return;
    }
    account->losses[durable->loss_count++] = (tm_durable_loss){0, 0, LEFT_DEAD, account->counts};
    sw->durables->losses++;
}

static int append_loss(tm_switch *sw, const tm_durable *durable, const tm_durable_loss *loss, uint64_t *n) {
    struct {
        tm_log_done done;
        tm_durable_counts counts;
    } body = {{.first = loss->first, .last = loss->last}, loss->counts};
    body.done.holder = durable->number | (is_kept_on(durable, loss->how) ? DURABLE_UNACKED : 0);
    _Static_assert(sizeof body <= TM_LOG_LOSS_BYTES_MAX && TM_DURABLES_CATALOG == TM_LOG_LOSS_DURABLE,
                   "a full log accepts a loss of this size");
    return durable_append_catalog(sw, TM_LOG_DEAD_LETTER, &body, sizeof body, n);
}

void durable_flush_losses(tm_switch *sw, uint32_t slot) {
    tm_durable *durable = durable_at(sw, slot);
    uint32_t written = 0;
    counts_unstored(sw, durable);
    for (; written < durable->loss_count; written++) {
        const tm_durable_loss *loss = &durable->account->losses[written];
        uint64_t n;
        if (append_loss(sw, durable, loss, &n) != TM_OK) {
            break;
        }
        uint64_t older = durable->account->counts_n;
        durable->account->counts_n = n;
        durable_retire_catalog(sw, older);
        if (durable_is_loss(loss->how) && tm_waits_reserve(&sw->durables->waits)) {
            tm_wait wait = {.n = n,
                            .kind = WAIT_LOSS,
                            .connection = durable->number,
                            .count = 1,
                            .how = (uint8_t)loss->how,
                            .number = loss->counts.left[loss->how],
                            .origin = loss->counts.unknowns};
            tm_waits_add(&sw->durables->waits, &wait);
        }
    }
    durable->loss_count -= written;
    sw->durables->losses -= written;
    if (durable->loss_count > 0) {
        tm_durable_loss *losses = durable->account->losses;
        memmove(losses, losses + written, durable->loss_count * sizeof *losses);
    }
}
