/* figures.c - figures of durable subscriptions, and the check of every invariant.
 *
 * Law: for each subscription, appended = open + past + what has left; the messages out at consumers are those that
 * attempts record.
 */
#include "durable/consumers/consumers.h"
#include "durable/consumers/hands.h"
#include "durable/core/copied.h"
#include "durable/core/owners.h"
#include "durable/core/table.h"
#include "durable/custody/chains.h"
#include "durable/state.h"
#include "durable/tables/attempts.h"
#include "durable/tables/incomplete.h"
#include "durable/tables/index.h"
#include "durable/tables/waits.h"

int tm_durable_figures(const tm_switch *sw, uint32_t number, tm_durable_stats *out) {
    uint32_t slot = sw != NULL && sw->durables != NULL && out != NULL ? durable_slot(sw, number) : DURABLE_NONE;
    if (slot == DURABLE_NONE || slot == DURABLE_CATALOG) {
        return TM_ABSENT;
    }
    const tm_durable *durable = durable_at(sw, slot);
    const tm_durable_account *account = durable_account(durable);
    const tm_index *index = &durable->index;
    uint32_t first = index->first;
    while (first < index->end && index->rows[first].state != ROW_OPEN) {
        first++;
    }
    uint64_t credit = 0;
    for (uint32_t id = durable->consumers; id != CONSUMER_NONE; id = durable_consumer(sw, id)->next_of_durable) {
        credit += durable_consumer(sw, id)->credit - durable_consumer(sw, id)->sent;
    }
    *out = (tm_durable_stats){.appended = durable->appended,
                              .open = durable->open,
                              .out = durable->out,
                              .paused = durable->paused,
                              .ready = durable->ready.count,
                              .past = durable->past,
                              .bytes = durable->bytes,
                              .charge = durable_charge_of(durable),
                              .oldest = first < index->end ? index->rows[first].n : 0,
                              .oldest_ms = first < index->end ? index->rows[first].at_ms : 0,
                              .acked = account->counts.left[LEFT_ACKED],
                              .expired = account->counts.left[LEFT_EXPIRED],
                              .dropped = account->counts.left[LEFT_DROPPED],
                              .replaced = account->counts.left[LEFT_REPLACED],
                              .dead = account->counts.left[LEFT_DEAD],
                              .undeliverable = account->counts.left[LEFT_UNDELIVERABLE],
                              .damaged = account->counts.left[LEFT_DAMAGED],
                              .skipped = account->counts.left[LEFT_SKIPPED],
                              .unknowns = account->counts.unknowns,
                              .unknown_first = account->counts.unknown_first,
                              .unknown_last = account->counts.unknown_last,
                              .refused = durable->refused,
                              .delivered = account->delivered,
                              .redelivered = account->redelivered,
                              .consumers = durable->consumer_count,
                              .credit = credit,
                              .held_back = durable_held(durable)};
    return TM_OK;
}

int tm_durables_figures(const tm_switch *sw, tm_durables_stats *out) {
    if (sw == NULL || sw->durables == NULL || out == NULL) {
        return TM_MISUSED;
    }
    const tm_durables *durables = sw->durables;
    *out = durables->stats;
    out->appended = durables->last_n;
    out->committed = tm_log_committed(durables->log);
    out->waits = tm_waits_count(&durables->waits);
    out->memory_bytes = durables->memory.bytes;
    out->is_failed = durables->has_failed;
    out->durables = durables->live;
    out->consumers = durables->consumer_live;
    out->ended_ms = durables->ended_ms;
    return TM_OK;
}

/* ---- invariants ---- */

static const char *check_durable(const tm_switch *sw, uint32_t slot) {
    const tm_durable *durable = durable_at(sw, slot);
    const tm_attempts *attempts = &sw->durables->attempts;
    uint64_t bytes = 0;
    uint64_t past_bytes = 0;
    uint32_t states[5] = {0};
    uint32_t by_state[4] = {0};
    if (!tm_index_is_sound(&durable->index) || !tm_heap_is_sound(attempts, &durable->ready)) {
        return "the index or the heap of a durable subscription is out of order";
    }
    for (uint32_t at = durable->index.first; at < durable->index.end; at++) {
        const tm_stored_row *row = &durable->index.rows[at];
        states[row->state]++;
        bytes += row->state == ROW_OPEN || row->state == ROW_PAST ? row->size : 0;
        past_bytes += row->state == ROW_PAST ? row->size : 0;
        if (row->attempt != STORED_NO_ATTEMPT) {
            const tm_attempt *one = &attempts->rows[row->attempt];
            if (row->state != ROW_OPEN || one->n != row->n || one->durable != slot || one->state == ATTEMPT_FREE) {
                return "an attempt and its message do not agree";
            }
            by_state[one->state]++;
        }
    }
    const tm_index *index = &durable->index;
    bool has_unwritten =
        slot != DURABLE_CATALOG && index->end > index->first && index->rows[index->end - 1].n > sw->durables->committed;
    if (has_unwritten && !durable->is_unwritten) {
        return "a durable subscription with unwritten messages is not marked so";
    }
    if (slot != DURABLE_CATALOG && (states[ROW_OPEN] != durable->open || states[ROW_PAST] != durable->past ||
                                    bytes != durable->bytes || past_bytes != durable_account(durable)->past_bytes)) {
        return "a durable subscription counts its messages wrongly";
    }
    if (states[ROW_UNKNOWN] + states[ROW_UNKNOWN_TOLD] != durable->unknown_rows) {
        return "a durable subscription counts its unknown rows wrongly";
    }
    if (slot != DURABLE_CATALOG && durable->account == NULL &&
        durable->appended + durable->past + durable->loss_count > 0) {
        return "a durable subscription that had messages has no account";
    }
    const char *wrong = durable_check_copied(sw, durable);
    if (wrong != NULL) {
        return wrong;
    }
    if (by_state[ATTEMPT_OUT] != durable->out || by_state[ATTEMPT_PAUSED] != durable->paused ||
        by_state[ATTEMPT_READY] != durable->ready.count ||
        by_state[ATTEMPT_OUT] + by_state[ATTEMPT_PAUSED] + by_state[ATTEMPT_READY] != durable->attempt_count) {
        return "a durable subscription counts its attempts wrongly";
    }
    return NULL;
}

static const char *check_consumers(const tm_switch *sw, const tm_durable *durable) {
    uint32_t count = 0;
    uint32_t held = 0;
    for (uint32_t id = durable->consumers; id != CONSUMER_NONE;
         id = durable_consumer(sw, id)->next_of_durable, count++) {
        const tm_consumer *consumer = durable_consumer(sw, id);
        if (durable_consumer_of(sw, consumer->connection, consumer->id) != id || count > durable->consumer_count) {
            return "a consumer is not found under its id";
        }
        for (uint32_t at = consumer->attempts; at != ATTEMPT_NONE; at = sw->durables->attempts.rows[at].next) {
            if (sw->durables->attempts.rows[at].holder != id) {
                return "an attempt is in the list of another consumer";
            }
            held += sw->durables->attempts.rows[at].state == ATTEMPT_OUT;
        }
    }
    return count != durable->consumer_count ? "a durable subscription counts its consumers wrongly"
           : held != durable->out           ? "a message is in flight without a consumer"
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
    const tm_waits *waits = &sw->durables->waits;
    uint32_t waiting = 0;
    uint32_t counted = 0;
    for (uint32_t at = waits->first; at < waits->end; at++) {
        waiting += count_answers(sw, &waits->rows[at]);
    }
    for (uint32_t slot = 0; slot < sw->durables->count; slot++) {
        for (const tm_durable_answer *answer = sw->durables->rows[slot]->answers; answer != NULL;
             answer = answer->next) {
            waiting += count_answers(sw, &answer->wait);
        }
    }
    for (uint32_t id = 0; id < sw->connection_count; id++) {
        counted += sw->connections[id].answers;
    }
    return waiting == counted;
}

int tm_durables_validate(const tm_switch *sw, const char **reason) {
    *reason = NULL;
    if (sw == NULL || sw->durables == NULL) {
        return TM_OK;
    }
    const tm_durables *durables = sw->durables;
    uint32_t losses = 0;
    if (!durable_numbers_are_sound(sw) || !tm_heap_is_sound(&durables->attempts, &durables->attempts.due) ||
        !tm_waits_are_sound(&durables->waits) || !tm_held_is_sound(&durables->held, &durables->written)) {
        *reason = "durable subscriptions by number, attempts by time or waits are out of order";
    } else if (!tm_incompletes_are_sound(&durables->incomplete)) {
        *reason = "incomplete messages are out of order, or more than the limit";
    }
    for (uint32_t slot = 0; slot < durables->count && *reason == NULL; slot++) {
        if (durables->rows[slot]->is_live) {
            *reason = check_durable(sw, slot);
            *reason = *reason == NULL ? check_consumers(sw, durables->rows[slot]) : *reason;
            losses += durables->rows[slot]->loss_count;
        }
    }
    *reason = *reason == NULL ? durable_check_chains(sw) : *reason;
    *reason = *reason == NULL ? durable_check_homes(sw) : *reason;
    if (*reason == NULL && !durable_owners_are_sound(sw)) {
        *reason = "an owner is not charged for what its durable subscriptions use";
    }
    if (*reason == NULL && losses != durables->losses) {
        *reason = "losses that are not appended are counted wrongly";
    }
    if (*reason == NULL && count_held(sw) != durables->stats.held) {
        *reason = "publishers that wait for the disk are counted wrongly";
    }
    if (*reason == NULL && !answers_are_sound(sw)) {
        *reason = "answers that wait are counted wrongly";
    }
    return *reason == NULL ? TM_OK : TM_MISUSED;
}

int tm_durables_advance(tm_switch *sw, int64_t wall_ms) {
    if (sw == NULL || sw->durables == NULL) {
        return TM_MISUSED;
    }
    sw->durables->wall_ahead_ms += wall_ms;
    for (uint32_t slot = DURABLE_CATALOG + 1; slot < sw->durables->count; slot++) {
        if (sw->durables->rows[slot]->is_live) {
            durable_make_due(sw, slot);
        }
    }
    return TM_OK;
}

void tm_durables_fail_allocation(tm_switch *sw, uint64_t n) {
    sw->durables->memory.fail_in = n;
}
