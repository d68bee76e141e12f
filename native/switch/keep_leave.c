/* keep_leave.c - a message leaves a keep: acknowledged, replaced, lost, or dead.
 *
 * Law: what is acknowledged becomes ranges, one record for many of all keeps. A loss and the count of all losses are
 * one record, so that the count is right after any crash, and it is told when that is on disk. A dead letter is one
 * record, by which one keep has done with a message and another one has it; the tally that counts it is the next, and
 * acknowledgements wait for that: until then the letter is there, and a start counts it. What cannot be written now is
 * written later, in order; until then it is open on disk, and comes again after a crash.
 */
#include "base/grow.h"
#include "switch/keeps.h"

#define DONE_PER_RECORD 256U
#define DONE_KEPT_MAX 65536U /* that wait while the log takes nothing; past it they are forgotten, and come again */

/* ---- acknowledged ---- */

void keep_flush_done(tm_switch *sw) {
    tm_keeps *keeps = sw->keeps;
    uint32_t written = 0;
    while (written < keeps->done_count && keeps->losses == 0) {
        uint32_t count = keeps->done_count - written;
        count = count < DONE_PER_RECORD ? count : DONE_PER_RECORD;
        tm_log_entry entry = {.body = keeps->done + written,
                              .body_size = count * (uint32_t)sizeof *keeps->done,
                              .kind = TM_LOG_ACK,
                              .t_us = keep_wall_ms(sw) * 1000};
        uint64_t n;
        if (keep_append(sw, &entry, &n) != TM_OK) {
            break;
        }
        written += count;
        keeps->stats.acks++;
    }
    keeps->done_count -= written;
    if (keeps->done_count > 0) {
        memmove(keeps->done, keeps->done + written, keeps->done_count * sizeof *keeps->done);
    }
}

bool keep_reserve_done(tm_switch *sw) {
    tm_keeps *keeps = sw->keeps;
    return keeps->done_count < DONE_KEPT_MAX && tm_grow(&keeps->memory, TM_COLD, &keeps->done, sizeof *keeps->done,
                                                        &keeps->done_capacity, keeps->done_count + 1);
}

void keep_note_done(tm_switch *sw, uint32_t claimant, uint64_t first, uint64_t last) {
    tm_keeps *keeps = sw->keeps;
    for (uint32_t back = 1; back <= 2 && back <= keeps->done_count; back++) { /* a keep may be two claimants in turn */
        tm_log_done *before = &keeps->done[keeps->done_count - back];
        if (before->claimant == claimant && first <= before->last + 1 && last > before->last &&
            first >= before->first) {
            before->last = last;
            return;
        }
    }
    if (!keep_reserve_done(sw)) {
        keeps->is_done_forgotten = true;
        return;
    }
    keeps->done[keeps->done_count++] = (tm_log_done){.claimant = claimant, .first = first, .last = last};
}

/* ---- a row ---- */

static void end_try(tm_switch *sw, tm_keep *keep, tm_kept *row) {
    tm_tries *tries = &sw->keeps->tries;
    tm_try *tried = &tries->rows[row->tried];
    keep->out -= tried->state == TRY_OUT;
    keep->paused -= tried->state == TRY_PAUSED;
    keep->dying -= tried->is_dying;
    tm_heap_take(tries, tried->state == TRY_READY ? &keep->ready : &tries->due, row->tried);
    keep_unhold(sw, row->tried);
    tm_tries_end(tries, row->tried);
    row->tried = KEPT_NO_TRY;
    keep->try_count--;
}

/* Take it out of the index and count it; `*first` as tm_index_leave has it. */
static void take_out(tm_switch *sw, uint32_t slot, uint32_t at, tm_leaving how, uint64_t *first) {
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
    if (row->tried != KEPT_NO_TRY) {
        end_try(sw, keep, row);
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

/* It is done with, and kept on. Returns where a range begins that ends with it: behind what is not done with. */
static uint64_t keep_on(tm_switch *sw, uint32_t slot, tm_kept *row, tm_leaving how) {
    tm_keep *keep = keep_at(sw, slot);
    if (keep->doubt_rows > 0) {
        keep_pass_doubt(sw, slot, (uint32_t)(row - keep->index.rows));
    }
    const tm_kept *before = row > &keep->index.rows[keep->index.first] ? row - 1 : NULL;
    keep_record_left(sw, keep, row, how);
    if (row->tried != KEPT_NO_TRY) {
        end_try(sw, keep, row);
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
        first = keep_on(sw, slot, row, LEFT_ACKED);
        keep_note_done(sw, keep->number | KEEP_UNACKED, first, n);
        keep_make_due(sw, slot);
        return;
    }
    take_out(sw, slot, at, how, &first);
    keep_note_done(sw, keep->number, first, n);
    keep_make_due(sw, slot);
}

/* ---- lost ---- */

bool keep_reserve_loss(tm_switch *sw, tm_keep *keep) {
    return keep_open_account(sw, keep) &&
           tm_grow(&sw->keeps->memory, TM_COLD, &keep->account->losses, sizeof *keep->account->losses,
                   &keep->account->loss_capacity, keep->loss_count + 1);
}

/* Numbers are lost, and the tally has them; after keep_reserve_loss. */
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
    if (keep->index.rows[at].state == KEPT_PAST) { /* somebody has had it */
        keep_leave(sw, slot, at, how);
        return true;
    }
    if (!keep_reserve_loss(sw, keep)) {
        return false;
    }
    uint64_t n = keep->index.rows[at].n;
    uint64_t first;
    take_out(sw, slot, at, how, &first);
    note_loss(sw, keep, first, n, how);
    keep_make_due(sw, slot);
    return true;
}

/* What was not stored is counted in the tally; without memory later. */
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

/* Does a keep that keeps on what is done with keep on what left so? Then its loss is one of KEEP_UNACKED. */
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
    note_loss(sw, keep, keep_on(sw, slot, row, LEFT_SKIPPED), row->n, LEFT_SKIPPED);
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
    body.done.claimant = keep->number | (is_kept_on(keep, loss->how) ? KEEP_UNACKED : 0);
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

/* ---- dead ---- */

/* The message at hand and what is said of it, as a body; NULL: no memory. */
static uint8_t *compose(tm_switch *sw, const tm_log_done *done, const tm_try *tried, const tm_body *body,
                        uint32_t *size) {
    tm_keeps *keeps = sw->keeps;
    tm_keep_letter letter = {.at_ms = body->at_ms, .deliveries = tried->deliveries, .reason_size = tried->reason_size};
    *size = (uint32_t)(sizeof *done + sizeof letter) + letter.reason_size + body->size;
    if (*size > keeps->frame_capacity &&
        !tm_grow(&keeps->memory, TM_COLD, &keeps->frame, 1, &keeps->frame_capacity, *size)) {
        return NULL;
    }
    uint8_t *at = keeps->frame;
    memcpy(at, done, sizeof *done);
    memcpy(at + sizeof *done, &letter, sizeof letter);
    at += sizeof *done + sizeof letter;
    if (letter.reason_size > 0) {
        memcpy(at, tried->reason, letter.reason_size);
    }
    memcpy(at + letter.reason_size, body->frame, body->size);
    return keeps->frame;
}

/* Has its dead letter place room? 0: it has none. */
static uint32_t letter_slot(const tm_switch *sw, const tm_keep *keep, uint32_t size) {
    uint32_t to = keep->dead_letter != 0 ? keep_slot(sw, keep->dead_letter) : KEEP_NONE;
    if (to == KEEP_NONE || keep_at(sw, to)->is_closing) {
        return KEEP_NONE;
    }
    const tm_keep *other = keep_at(sw, to);
    bool has_room = other->owner == keep->owner ? keep_has_room_of_own(other, size) : keep_has_room(sw, other, size);
    bool refuses = other->terms->overflow == TM_KEEP_REFUSE && !has_room;
    return refuses ? KEEP_NONE : to;
}

static bool write_letter(tm_switch *sw, uint32_t slot, tm_kept *row, const tm_body *body, uint32_t to) {
    tm_keep *keep = keep_at(sw, slot);
    tm_kept_keys keys;
    tm_kept moved = keep_row(sw, keep_at(sw, to), 0, body->at_ms, body->frame, body->size, &keys);
    uint32_t at = (uint32_t)(row - keep->index.rows);
    const tm_kept *before = at > keep->index.first ? row - 1 : NULL;
    tm_log_done done = {.claimant = keep->number, .last = row->n};
    done.first = before == NULL ? 0 : before->n + (before->state != KEPT_LEFT);
    uint32_t size;
    const uint8_t *bytes = compose(sw, &done, &sw->keeps->tries.rows[row->tried], body, &size);
    if (bytes == NULL || !keep_reserve(sw, keep_at(sw, to), body->frame) || !keep_reserve_loss(sw, keep)) {
        return false;
    }
    uint32_t number = keep_at(sw, to)->number;
    uint32_t claimants[2] = {number, number | KEEP_UNACKED};
    tm_log_entry entry = {.keeps = claimants,
                          .keep_count = keep_keeps_past(keep_at(sw, to)) ? 2 : 1,
                          .body = bytes,
                          .body_size = size,
                          .kind = TM_LOG_DEAD_LETTER,
                          .t_us = keep_wall_ms(sw) * 1000};
    tm_kept_id id = keep_id_of(body->frame); /* which the append may overwrite */
    moved.maybe_duplicate = row->maybe_duplicate;
    moved.is_letter = true;
    if (keep_append(sw, &entry, &moved.n) != TM_OK) {
        return false;
    }
    moved.place = sw->keeps->last_place;
    take_out(sw, slot, at, LEFT_DEAD, &done.first);
    keep_note_tally_due(sw, keep);
    keep_flush_losses(sw, slot);
    keep_record_kept(sw, keep_at(sw, to), &moved, &keys, id, KEPT_AS_LETTER);
    keep_put(sw, to, &moved, &keys);
    return true;
}

/* false: its frame is not there yet, or the log takes nothing now. */
static bool bury(tm_switch *sw, uint32_t slot, tm_kept *row) {
    tm_keep *keep = keep_at(sw, slot);
    uint32_t at = (uint32_t)(row - keep->index.rows);
    uint32_t to = letter_slot(sw, keep, row->size);
    keep_flush_losses(sw, slot);
    if (keep->loss_count > 0) { /* a tally that is written behind a letter counts it */
        return false;
    }
    tm_body body;
    tm_body_result found = to == KEEP_NONE ? BODY_MISSING : keep_body(sw, slot, row, &body);
    if (found == BODY_MISSING) {
        return keep_lose(sw, slot, at, to == KEEP_NONE ? LEFT_UNDELIVERABLE : LEFT_DAMAGED);
    }
    return found == BODY_FOUND && write_letter(sw, slot, row, &body, to);
}

void keep_kill(tm_switch *sw, uint32_t slot, tm_kept *row, const uint8_t *reason, uint32_t size) {
    tm_keep *keep = keep_at(sw, slot);
    tm_try *tried = &sw->keeps->tries.rows[row->tried];
    if (tried->is_dying) {
        return;
    }
    if (tried->state != TRY_READY) {
        keep_make_ready(sw, slot, row->tried);
    }
    size = size < TRY_REASON_BYTES_MAX ? size : TRY_REASON_BYTES_MAX;
    tried->reason = size > 0 ? TM_NEW(&sw->keeps->memory, TM_COLD, uint8_t, size) : NULL;
    tried->reason_size = tried->reason != NULL ? (uint16_t)size : 0;
    if (tried->reason != NULL) {
        memcpy(tried->reason, reason, size);
    }
    tried->is_dying = true;
    keep->dying++;
    bury(sw, slot, row);
    keep_make_due(sw, slot);
}

static uint32_t first_dying(const tm_switch *sw, const tm_keep *keep) {
    uint32_t first = TRY_NONE;
    for (uint32_t i = 0; i < keep->ready.count; i++) {
        uint32_t id = keep->ready.tries[i];
        const tm_try *tried = &sw->keeps->tries.rows[id];
        if (tried->is_dying && (first == TRY_NONE || tried->n < sw->keeps->tries.rows[first].n)) {
            first = id;
        }
    }
    return first;
}

bool keep_write_letters(tm_switch *sw, uint32_t slot) {
    tm_keep *keep = keep_at(sw, slot);
    while (keep->dying > 0) {
        uint32_t id = first_dying(sw, keep);
        if (!bury(sw, slot, tm_index_find(&keep->index, sw->keeps->tries.rows[id].n))) {
            return false;
        }
    }
    keep_flush_losses(sw, slot);
    keep_release_answers(sw, keep);
    return true;
}
