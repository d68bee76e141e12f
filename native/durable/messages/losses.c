/* losses.c - see losses.h.
 *
 * Law: a loss and the total of all losses are one record, so the total is right after any crash; it is reported when
 * that record is on disk. Losses that cannot be written now are written later, in order.
 */
#include "durable/messages/losses.h"

#include "base/grow.h"
#include "durable/keep/book.h"
#include "durable/keep/table.h"
#include "durable/messages/leave.h"
#include "durable/tables/waits.h"

bool keep_reserve_loss(tm_switch *sw, tm_keep *keep) {
    return keep_open_account(sw, keep) &&
           tm_grow(&sw->keeps->memory, TM_COLD, &keep->account->losses, sizeof *keep->account->losses,
                   &keep->account->loss_capacity, keep->loss_count + 1);
}

/* Record that numbers are lost, after the counts include them and keep_reserve_loss succeeded. */
static void note_loss(tm_switch *sw, tm_keep *keep, uint64_t first, uint64_t last, tm_leaving how) {
    tm_keep_account *account = keep->account;
    tm_keep_loss *before = keep->loss_count > 0 ? &account->losses[keep->loss_count - 1] : NULL;
    if (before != NULL && before->how == how && first <= before->last + 1 && first >= before->first &&
        last > before->last) {
        before->last = last;
        before->tally = account->tally;
    } else {
        account->losses[keep->loss_count++] = (tm_keep_loss){first, last, how, account->tally};
        sw->keeps->losses++;
    }
}

bool keep_lose(tm_switch *sw, uint32_t slot, uint32_t at, tm_leaving how) {
    tm_keep *keep = keep_at(sw, slot);
    if (keep->index.rows[at].state == KEPT_PAST) { /* it was acknowledged before */
        keep_leave(sw, slot, at, how);
        return true;
    }
    if (!keep_reserve_loss(sw, keep)) {
        return false;
    }
    uint64_t n = keep->index.rows[at].n;
    uint64_t first;
    keep_take_out(sw, slot, at, how, &first);
    note_loss(sw, keep, first, n, how);
    keep_make_due(sw, slot);
    return true;
}

/* Add unstored messages to the counts; without memory, a later call does. */
static void tally_unstored(tm_switch *sw, tm_keep *keep) {
    if (keep->unstored == 0 || !keep_reserve_loss(sw, keep)) {
        return;
    }
    keep->appended += keep->unstored;
    keep->account->tally.left[keep->unstored_how] += keep->unstored;
    keep->account->tally.bytes[keep->unstored_how] += keep->unstored_bytes;
    note_loss(sw, keep, 0, 0, (tm_leaving)keep->unstored_how);
    keep->unstored = keep->unstored_bytes = 0;
}

void keep_lose_unstored(tm_switch *sw, uint32_t slot, uint32_t size, tm_leaving how) {
    tm_keep *keep = keep_at(sw, slot);
    if (keep->unstored_how != how) {
        tally_unstored(sw, keep);
    }
    keep->unstored_how = keep->unstored == 0 ? (uint8_t)how : keep->unstored_how;
    keep->unstored += keep->unstored < UINT32_MAX;
    keep->unstored_bytes += size < UINT32_MAX - keep->unstored_bytes ? size : UINT32_MAX - keep->unstored_bytes;
}

/* true if a subscription retains messages with this outcome; the loss is then one of the holder KEEP_UNACKED. */
static bool is_kept_on(const tm_keep *keep, tm_leaving how) {
    return how == LEFT_SKIPPED && keep_keeps_past(keep);
}

bool keep_skip(tm_switch *sw, uint32_t slot, uint32_t at) {
    tm_keep *keep = keep_at(sw, slot);
    if (!is_kept_on(keep, LEFT_SKIPPED)) {
        return keep_lose(sw, slot, at, LEFT_SKIPPED);
    }
    if (!keep_reserve_loss(sw, keep)) {
        return false;
    }
    tm_kept *row = &keep->index.rows[at];
    note_loss(sw, keep, keep_go_past(sw, slot, row, LEFT_SKIPPED), row->n, LEFT_SKIPPED);
    keep_make_due(sw, slot);
    return true;
}

void keep_note_tally_due(tm_switch *sw, tm_keep *keep) {
    tm_keep_account *account = keep->account;
    tm_keep_loss *before = keep->loss_count > 0 ? &account->losses[keep->loss_count - 1] : NULL;
    if (before != NULL && before->how == LEFT_DEAD) {
        before->tally = account->tally;
        return;
    }
    account->losses[keep->loss_count++] = (tm_keep_loss){0, 0, LEFT_DEAD, account->tally};
    sw->keeps->losses++;
}

static int append_loss(tm_switch *sw, const tm_keep *keep, const tm_keep_loss *loss, uint64_t *n) {
    struct {
        tm_log_done done;
        tm_keep_tally tally;
    } body = {{.first = loss->first, .last = loss->last}, loss->tally};
    body.done.holder = keep->number | (is_kept_on(keep, loss->how) ? KEEP_UNACKED : 0);
    _Static_assert(sizeof body <= TM_LOG_LOSS_BYTES_MAX && TM_KEEPS_BOOK == TM_LOG_LOSS_KEEP, "a full log takes it");
    return keep_append_book(sw, TM_LOG_DEAD_LETTER, &body, sizeof body, n);
}

void keep_flush_losses(tm_switch *sw, uint32_t slot) {
    tm_keep *keep = keep_at(sw, slot);
    uint32_t written = 0;
    tally_unstored(sw, keep);
    for (; written < keep->loss_count; written++) {
        const tm_keep_loss *loss = &keep->account->losses[written];
        uint64_t n;
        if (append_loss(sw, keep, loss, &n) != TM_OK) {
            break;
        }
        uint64_t older = keep->account->tally_n;
        keep->account->tally_n = n;
        keep_retire_book(sw, older);
        if (keep_is_loss(loss->how) && tm_waits_reserve(&sw->keeps->waits)) {
            tm_wait wait = {.n = n,
                            .kind = WAIT_LOSS,
                            .connection = keep->number,
                            .count = 1,
                            .how = (uint8_t)loss->how,
                            .number = loss->tally.left[loss->how],
                            .origin = loss->tally.doubts};
            tm_waits_add(&sw->keeps->waits, &wait);
        }
    }
    keep->loss_count -= written;
    sw->keeps->losses -= written;
    if (keep->loss_count > 0) {
        tm_keep_loss *losses = keep->account->losses;
        memmove(losses, losses + written, keep->loss_count * sizeof *losses);
    }
}
