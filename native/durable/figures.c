/* figures.c - figures of durable subscriptions, and the check of every invariant.
 *
 * Law: for each subscription, appended = open + past + what has left; the messages out at consumers are those that
 * attempts record.
 */
#include "durable/keep/owners.h"
#include "durable/keep/table.h"
#include "durable/members/members.h"
#include "durable/state.h"
#include "durable/tables/attempts.h"
#include "durable/tables/incomplete.h"
#include "durable/tables/index.h"
#include "durable/tables/waits.h"

int tm_keep_figures(const tm_switch *sw, uint32_t number, tm_keep_stats *out) {
    uint32_t slot = sw != NULL && sw->keeps != NULL && out != NULL ? keep_slot(sw, number) : KEEP_NONE;
    if (slot == KEEP_NONE || slot == KEEP_BOOK) {
        return TM_ABSENT;
    }
    const tm_keep *keep = keep_at(sw, slot);
    const tm_keep_account *account = keep_account(keep);
    const tm_index *index = &keep->index;
    uint32_t first = index->first;
    while (first < index->end && index->rows[first].state != KEPT_OPEN) {
        first++;
    }
    uint64_t credit = 0;
    for (uint32_t id = keep->members; id != MEMBER_NONE; id = keep_member(sw, id)->next_of_keep) {
        credit += keep_member(sw, id)->credit - keep_member(sw, id)->sent;
    }
    *out = (tm_keep_stats){.appended = keep->appended,
                           .open = keep->open,
                           .out = keep->out,
                           .paused = keep->paused,
                           .ready = keep->ready.count,
                           .past = keep->past,
                           .bytes = keep->bytes,
                           .charge = keep_charge_of(keep),
                           .oldest = first < index->end ? index->rows[first].n : 0,
                           .oldest_ms = first < index->end ? index->rows[first].at_ms : 0,
                           .acked = account->tally.left[LEFT_ACKED],
                           .expired = account->tally.left[LEFT_EXPIRED],
                           .dropped = account->tally.left[LEFT_DROPPED],
                           .replaced = account->tally.left[LEFT_REPLACED],
                           .dead = account->tally.left[LEFT_DEAD],
                           .undeliverable = account->tally.left[LEFT_UNDELIVERABLE],
                           .damaged = account->tally.left[LEFT_DAMAGED],
                           .skipped = account->tally.left[LEFT_SKIPPED],
                           .doubts = account->tally.doubts,
                           .doubt_first = account->tally.doubt_first,
                           .doubt_last = account->tally.doubt_last,
                           .refused = keep->refused,
                           .delivered = account->delivered,
                           .redelivered = account->redelivered,
                           .members = keep->member_count,
                           .credit = credit};
    return TM_OK;
}

int tm_keeps_figures(const tm_switch *sw, tm_keeps_stats *out) {
    if (sw == NULL || sw->keeps == NULL || out == NULL) {
        return TM_MISUSED;
    }
    const tm_keeps *keeps = sw->keeps;
    *out = keeps->stats;
    out->appended = keeps->last_n;
    out->committed = tm_log_committed(keeps->log);
    out->waits = tm_waits_count(&keeps->waits);
    out->memory_bytes = keeps->memory.bytes;
    out->is_failed = keeps->has_failed;
    out->keeps = keeps->live;
    out->members = keeps->member_live;
    out->ended_ms = keeps->ended_ms;
    return TM_OK;
}

/* ---- invariants ---- */

static const char *check_keep(const tm_switch *sw, uint32_t slot) {
    const tm_keep *keep = keep_at(sw, slot);
    const tm_attempts *attempts = &sw->keeps->attempts;
    uint64_t bytes = 0;
    uint64_t past_bytes = 0;
    uint32_t states[5] = {0};
    uint32_t by_state[4] = {0};
    if (!tm_index_is_sound(&keep->index) || !tm_heap_is_sound(attempts, &keep->ready)) {
        return "the index or the heap of a keep is not in order";
    }
    for (uint32_t at = keep->index.first; at < keep->index.end; at++) {
        const tm_kept *row = &keep->index.rows[at];
        states[row->state]++;
        bytes += row->state != KEPT_LEFT ? row->size : 0;
        past_bytes += row->state == KEPT_PAST ? row->size : 0;
        if (row->attempt != KEPT_NO_ATTEMPT) {
            const tm_attempt *one = &attempts->rows[row->attempt];
            if (row->state != KEPT_OPEN || one->n != row->n || one->keep != slot || one->state == ATTEMPT_FREE) {
                return "a try is not that of its message";
            }
            by_state[one->state]++;
        }
    }
    const tm_index *index = &keep->index;
    bool has_unwritten =
        slot != KEEP_BOOK && index->end > index->first && index->rows[index->end - 1].n > sw->keeps->committed;
    if (has_unwritten && !keep->is_unwritten) {
        return "a keep does not wait for the disk";
    }
    if (slot != KEEP_BOOK && (states[KEPT_OPEN] != keep->open || states[KEPT_PAST] != keep->past ||
                              bytes != keep->bytes || past_bytes != keep_account(keep)->past_bytes)) {
        return "a keep counts its messages wrongly";
    }
    if (states[KEPT_DOUBT] + states[KEPT_DOUBT_TOLD] != keep->doubt_rows) {
        return "a keep counts its doubts wrongly";
    }
    if (slot != KEEP_BOOK && keep->account == NULL && keep->appended + keep->past + keep->loss_count > 0) {
        return "a keep that had messages has no account";
    }
    if (by_state[ATTEMPT_OUT] != keep->out || by_state[ATTEMPT_PAUSED] != keep->paused ||
        by_state[ATTEMPT_READY] != keep->ready.count ||
        by_state[ATTEMPT_OUT] + by_state[ATTEMPT_PAUSED] + by_state[ATTEMPT_READY] != keep->attempt_count) {
        return "a keep counts its tries wrongly";
    }
    return NULL;
}

static const char *check_members(const tm_switch *sw, const tm_keep *keep) {
    uint32_t count = 0;
    uint32_t held = 0;
    for (uint32_t id = keep->members; id != MEMBER_NONE; id = keep_member(sw, id)->next_of_keep, count++) {
        const tm_member *member = keep_member(sw, id);
        if (keep_member_of(sw, member->connection, member->id) != id || count > keep->member_count) {
            return "an attachment is not found under its id";
        }
        for (uint32_t at = member->attempts; at != ATTEMPT_NONE; at = sw->keeps->attempts.rows[at].next) {
            if (sw->keeps->attempts.rows[at].holder != id) {
                return "a try is in the list of another member";
            }
            held += sw->keeps->attempts.rows[at].state == ATTEMPT_OUT;
        }
    }
    return count != keep->member_count ? "a keep counts its members wrongly"
           : held != keep->out         ? "a message is out at nobody"
                                       : NULL;
}

static uint64_t count_held(const tm_switch *sw) {
    uint64_t held = 0;
    for (uint32_t id = 0; id < sw->connection_count; id++) {
        held += sw->connections[id].waits_for_log;
    }
    return held;
}

static uint32_t count_answers(const tm_switch *sw, const tm_wait *wait) {
    return wait->kind == WAIT_ANSWER && sw->connections[wait->connection].serial == wait->origin;
}

/* true if the connections count exactly the answers that wait for them. */
static bool answers_are_sound(const tm_switch *sw) {
    const tm_waits *waits = &sw->keeps->waits;
    uint32_t waiting = 0;
    uint32_t counted = 0;
    for (uint32_t at = waits->first; at < waits->end; at++) {
        waiting += count_answers(sw, &waits->rows[at]);
    }
    for (uint32_t slot = 0; slot < sw->keeps->count; slot++) {
        for (const tm_keep_answer *answer = sw->keeps->rows[slot]->answers; answer != NULL; answer = answer->next) {
            waiting += count_answers(sw, &answer->wait);
        }
    }
    for (uint32_t id = 0; id < sw->connection_count; id++) {
        counted += sw->connections[id].answers;
    }
    return waiting == counted;
}

int tm_keeps_validate(const tm_switch *sw, const char **reason) {
    *reason = NULL;
    if (sw == NULL || sw->keeps == NULL) {
        return TM_OK;
    }
    const tm_keeps *keeps = sw->keeps;
    uint32_t losses = 0;
    if (!keep_numbers_are_sound(sw) || !tm_heap_is_sound(&keeps->attempts, &keeps->attempts.due) ||
        !tm_waits_are_sound(&keeps->waits)) {
        *reason = "keeps by number, tries by time or waits are not in order";
    } else if (!tm_incompletes_are_sound(&keeps->incomplete)) {
        *reason = "messages that a keep lacks are not in order, or more than may be";
    }
    for (uint32_t slot = 0; slot < keeps->count && *reason == NULL; slot++) {
        if (keeps->rows[slot]->is_live) {
            *reason = check_keep(sw, slot);
            *reason = *reason == NULL ? check_members(sw, keeps->rows[slot]) : *reason;
            losses += keeps->rows[slot]->loss_count;
        }
    }
    if (*reason == NULL && !keep_owners_are_sound(sw)) {
        *reason = "an owner is not charged what its keeps have";
    }
    if (*reason == NULL && losses != keeps->losses) {
        *reason = "losses that are not appended are counted wrongly";
    }
    if (*reason == NULL && count_held(sw) != keeps->stats.held) {
        *reason = "publishers that wait for the disk are counted wrongly";
    }
    if (*reason == NULL && !answers_are_sound(sw)) {
        *reason = "answers that wait are counted wrongly";
    }
    return *reason == NULL ? TM_OK : TM_MISUSED;
}

int tm_keeps_advance(tm_switch *sw, int64_t wall_ms) {
    if (sw == NULL || sw->keeps == NULL) {
        return TM_MISUSED;
    }
    sw->keeps->wall_ahead_ms += wall_ms;
    for (uint32_t slot = KEEP_BOOK + 1; slot < sw->keeps->count; slot++) {
        if (sw->keeps->rows[slot]->is_live) {
            keep_make_due(sw, slot);
        }
    }
    return TM_OK;
}

void tm_keeps_fail_allocation(tm_switch *sw, uint64_t n) {
    sw->keeps->memory.fail_in = n;
}
