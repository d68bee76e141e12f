/* life.c - see life.h. */
#include "durable/life.h"

#include "base/grow.h"
#include "durable/consumers/consumers.h"
#include "durable/core/append.h"
#include "durable/core/bodies.h"
#include "durable/core/copied.h"
#include "durable/core/done.h"
#include "durable/core/owners.h"
#include "durable/core/table.h"
#include "durable/messages/answers.h"
#include "durable/messages/leave.h"
#include "durable/tables/attempts.h"
#include "durable/tables/index.h"
#include "durable/tables/policy.h"
#include "switch/connections/events.h"
#include "switch/subscribers/subscriber.h"
#include "switch/subscribers/subscriptions.h"
#include "tm_residual_api.h"

void durable_clear(tm_switch *sw, tm_durable *durable) {
    tm_memory *memory = &sw->durables->memory;
    for (uint32_t at = durable->index.first; at < durable->index.end; at++) {
        uint32_t id = durable->index.rows[at].attempt;
        if (id != STORED_NO_ATTEMPT) {
            tm_attempt *attempt = &sw->durables->attempts.rows[id];
            tm_heap_take(&sw->durables->attempts,
                         attempt->state == ATTEMPT_READY ? &durable->ready : &sw->durables->attempts.due, id);
            tm_attempts_end(&sw->durables->attempts, id);
        }
    }
    tm_index_free(&durable->index, memory);
    tm_heap_free(&durable->ready, memory);
    if (durable->account != NULL) {
        tm_idset_free(&durable->account->latest, memory, TM_COLD);
        durable_free_copied(sw, durable->account);
        TM_DELETE(memory, TM_COLD, durable->account->losses, tm_durable_loss, durable->account->loss_capacity);
        TM_DELETE(memory, TM_COLD, durable->account, tm_durable_account, 1);
        durable->account = NULL;
    }
    durable_drop_answers(sw, durable);
    durable_drop_cold(sw, durable);
    durable_end_charge(sw, durable);
    if (durable->policy != NULL && durable->policy->copies_min > 0) {
        tm_copies_leave(&sw->durables->homes.copies, durable->policy->copies);
    }
    tm_policy_drop(&sw->durables->policy, durable->policy);
    durable->policy = NULL;
    sw->durables->losses -= durable->loss_count;
    durable->loss_count = 0;
}

/* ---- opening ---- */

static bool policy_are_sound(const tm_durable_policy *policy) {
    return policy->bytes_max > 0 && policy->unacked_max > 0 && policy->unacked_max <= TM_DURABLE_UNACKED_MAX &&
           policy->ack_wait_ms > 0 && policy->backoff_count <= TM_DURABLE_BACKOFFS_MAX &&
           policy->overflow <= TM_DURABLE_REFUSE && policy->order_by_size <= TM_NAME_BYTES_MAX &&
           policy->latest_by_size <= TM_NAME_BYTES_MAX && (policy->copies_min == 0 || policy->copies != 0);
}

/* Share the policy, and allocate the lanes if it has order_by. false: no memory. */
static bool take_policy(tm_switch *sw, tm_durable *durable, const tm_durable_policy *policy) {
    tm_durables *durables = sw->durables;
    if (policy->order_by_size > 0 && durables->lanes == NULL) {
        durables->lanes = TM_NEW(&durables->memory, TM_COLD, tm_durable_lane, DURABLE_LANES);
        if (durables->lanes == NULL) {
            return false;
        }
    }
    if (policy->copies_min > 0 && !tm_copies_join(&durables->homes.copies, policy->copies, policy->copies_min)) {
        return false;
    }
    durable->policy = tm_policy_take(&durables->policy, policy);
    if (durable->policy == NULL && policy->copies_min > 0) {
        tm_copies_leave(&durables->homes.copies, policy->copies);
    }
    return durable->policy != NULL;
}

int tm_durable_open(tm_switch *sw, uint32_t number, const tm_durable_policy *policy, uint32_t *subscriber) {
    if (sw == NULL || sw->durables == NULL || policy == NULL || subscriber == NULL || number == TM_DURABLES_CATALOG ||
        number >= DURABLE_UNACKED || !policy_are_sound(policy) || durable_slot(sw, number) != DURABLE_NONE) {
        return TM_MISUSED;
    }
    uint32_t slot = durable_new_slot(sw, number);
    if (slot == DURABLE_NONE) {
        return TM_NO_MEMORY;
    }
    tm_admission admission = {.number = number, .filters_max = UINT32_MAX, .table_bytes_max = UINT64_MAX};
    int result = take_policy(sw, durable_at(sw, slot), policy) ? switch_new_subscriber(sw, &admission, subscriber)
                                                               : TM_NO_MEMORY;
    if (result != TM_OK) {
        durable_clear(sw, durable_at(sw, slot));
        durable_free_slot(sw, slot);
        return result;
    }
    durable_at(sw, slot)->subscriber = *subscriber;
    switch_subscriber(sw, *subscriber)->state = SUBSCRIBER_DURABLE;
    switch_subscriber(sw, *subscriber)->durable = slot;
    sw->durables->live++;
    return TM_OK;
}

int tm_durable_filter(tm_switch *sw, uint32_t number, const uint8_t *filter, uint32_t size, const uint8_t *program,
                      uint32_t program_size) {
    uint32_t slot = sw != NULL && sw->durables != NULL && filter != NULL ? durable_slot(sw, number) : DURABLE_NONE;
    if (slot == DURABLE_NONE || slot == DURABLE_CATALOG || durable_at(sw, slot)->is_closing) {
        return TM_MISUSED;
    }
    const char *reason;
    uint32_t place;
    if (program_size > 0 && tm_residual_verify(program, program_size, &reason, &place) != TM_OK) {
        return TM_MALFORMED;
    }
    uint32_t id = durable_at(sw, slot)->subscriber;
    tm_subscriber *subscriber = switch_subscriber(sw, id);
    uint32_t row;
    int result = tm_subscriptions_begin(&sw->subscriptions, id, subscriber->filter_count, true,
                                        &subscriber->subscriptions, &row);
    if (result != TM_OK) {
        return result;
    }
    result = tm_subscriptions_add(&sw->subscriptions, row, filter, size);
    if (result == TM_OK && program_size > 0) {
        result = tm_subscriptions_decide_by(&sw->subscriptions, row, program, program_size);
    }
    if (result != TM_OK) {
        tm_subscriptions_end(&sw->subscriptions, row, &subscriber->subscriptions);
        return result;
    }
    if (program_size > 0) {
        switch_keep_names(sw, program);
    }
    subscriber->filter_count++;
    subscriber->table_bytes += sw->subscriptions.rows[row].table_bytes;
    subscriber->subscription_count++;
    return TM_OK;
}

int tm_durable_dead_letter(tm_switch *sw, uint32_t number, uint32_t to) {
    uint32_t slot = sw != NULL && sw->durables != NULL ? durable_slot(sw, number) : DURABLE_NONE;
    if (slot == DURABLE_NONE || slot == DURABLE_CATALOG) {
        return TM_ABSENT;
    }
    if (to == number) {
        return TM_MISUSED;
    }
    durable_at(sw, slot)->dead_letter = to;
    return TM_OK;
}

/* ---- deletion ---- */

static int begin_to_forget(tm_switch *sw, uint32_t slot) {
    tm_durable *durable = durable_at(sw, slot);
    tm_log_done done[2] = {{.holder = durable->number, .last = UINT64_MAX},
                           {.holder = durable->number | DURABLE_UNACKED, .last = UINT64_MAX}};
    tm_log_entry entry = {.body = done,
                          .body_size = (durable_stores_past(durable) ? 2 : 1) * (uint32_t)sizeof *done,
                          .kind = TM_LOG_FORGET,
                          .t_us = durable_wall_ms(sw) * 1000};
    uint64_t n;
    int result = durable_append(sw, &entry, &n);
    if (result != TM_OK) {
        return result;
    }
    while (durable->consumers != CONSUMER_NONE) {
        durable_cancel(sw, durable->consumers);
    }
    if (durable_account(durable)->counts_n != 0) {
        durable_retire_catalog(sw, durable->account->counts_n);
    }
    durable = durable_at(sw, slot);
    durable->is_closing = true;
    durable_disown(sw, durable);
    switch_subscriber(sw, durable->subscriber)->state = SUBSCRIBER_ENDED;
    return TM_OK;
}

int tm_durable_forget(tm_switch *sw, uint32_t number, uint32_t steps, uint32_t *left) {
    uint32_t slot = sw != NULL && sw->durables != NULL && left != NULL ? durable_slot(sw, number) : DURABLE_NONE;
    if (slot == DURABLE_NONE || slot == DURABLE_CATALOG) {
        return TM_MISUSED;
    }
    switch_begin(sw);
    int result = durable_at(sw, slot)->is_closing ? TM_OK : begin_to_forget(sw, slot);
    if (result != TM_OK) {
        return result;
    }
    *left = switch_forget_subscriber(sw, durable_at(sw, slot)->subscriber, steps);
    if (*left == 0) {
        sw->durables->live--;
        durable_clear(sw, durable_at(sw, slot));
        durable_free_slot(sw, slot);
    }
    durable_flush_done(sw);
    tm_log_flush(sw->durables->log);
    return TM_OK;
}
