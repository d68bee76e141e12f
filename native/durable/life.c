/* life.c - see life.h. */
#include "durable/life.h"

#include "base/grow.h"
#include "durable/keep/append.h"
#include "durable/keep/bodies.h"
#include "durable/keep/done.h"
#include "durable/keep/owners.h"
#include "durable/keep/table.h"
#include "durable/members/members.h"
#include "durable/messages/answers.h"
#include "durable/messages/leave.h"
#include "durable/tables/attempts.h"
#include "durable/tables/index.h"
#include "durable/tables/terms.h"
#include "switch/connections/events.h"
#include "switch/subscribers/subscriber.h"
#include "switch/subscribers/subscriptions.h"

void keep_clear(tm_switch *sw, tm_keep *keep) {
    tm_memory *memory = &sw->keeps->memory;
    for (uint32_t at = keep->index.first; at < keep->index.end; at++) {
        uint32_t id = keep->index.rows[at].attempt;
        if (id != KEPT_NO_ATTEMPT) {
            tm_attempt *attempt = &sw->keeps->attempts.rows[id];
            tm_heap_take(&sw->keeps->attempts,
                         attempt->state == ATTEMPT_READY ? &keep->ready : &sw->keeps->attempts.due, id);
            tm_attempts_end(&sw->keeps->attempts, id);
        }
    }
    tm_index_free(&keep->index, memory);
    tm_heap_free(&keep->ready, memory);
    if (keep->account != NULL) {
        tm_idset_free(&keep->account->latest, memory, TM_COLD);
        TM_DELETE(memory, TM_COLD, keep->account->losses, tm_keep_loss, keep->account->loss_capacity);
        TM_DELETE(memory, TM_COLD, keep->account, tm_keep_account, 1);
        keep->account = NULL;
    }
    keep_drop_answers(sw, keep);
    keep_drop_cold(sw, keep);
    keep_end_charge(sw, keep);
    tm_terms_drop(&sw->keeps->terms, keep->terms);
    keep->terms = NULL;
    sw->keeps->losses -= keep->loss_count;
    keep->loss_count = 0;
}

/* ---- opening ---- */

static bool terms_are_sound(const tm_keep_terms *terms) {
    return terms->bytes_max > 0 && terms->unacked_max > 0 && terms->unacked_max <= TM_KEEP_UNACKED_MAX &&
           terms->ack_wait_ms > 0 && terms->backoff_count <= TM_KEEP_BACKOFFS_MAX &&
           terms->overflow <= TM_KEEP_REFUSE && terms->order_by_size <= TM_NAME_BYTES_MAX &&
           terms->latest_by_size <= TM_NAME_BYTES_MAX;
}

/* Share the policy, and allocate the lanes if it has order_by. false: no memory. */
static bool take_terms(tm_switch *sw, tm_keep *keep, const tm_keep_terms *terms) {
    tm_keeps *keeps = sw->keeps;
    if (terms->order_by_size > 0 && keeps->lanes == NULL) {
        keeps->lanes = TM_NEW(&keeps->memory, TM_COLD, tm_keep_lane, KEEP_LANES);
        if (keeps->lanes == NULL) {
            return false;
        }
    }
    keep->terms = tm_terms_take(&keeps->terms, terms);
    return keep->terms != NULL;
}

int tm_keep_open(tm_switch *sw, uint32_t number, const tm_keep_terms *terms, uint32_t *subscriber) {
    if (sw == NULL || sw->keeps == NULL || terms == NULL || subscriber == NULL || number == TM_KEEPS_BOOK ||
        number >= KEEP_UNACKED || !terms_are_sound(terms) || keep_slot(sw, number) != KEEP_NONE) {
        return TM_MISUSED;
    }
    uint32_t slot = keep_new_slot(sw, number);
    if (slot == KEEP_NONE) {
        return TM_NO_MEMORY;
    }
    tm_admission admission = {.number = number, .filters_max = UINT32_MAX, .table_bytes_max = UINT64_MAX};
    int result =
        take_terms(sw, keep_at(sw, slot), terms) ? switch_new_subscriber(sw, &admission, subscriber) : TM_NO_MEMORY;
    if (result != TM_OK) {
        keep_clear(sw, keep_at(sw, slot));
        keep_free_slot(sw, slot);
        return result;
    }
    keep_at(sw, slot)->subscriber = *subscriber;
    switch_subscriber(sw, *subscriber)->state = SUBSCRIBER_KEEP;
    switch_subscriber(sw, *subscriber)->keep = slot;
    sw->keeps->live++;
    return TM_OK;
}

int tm_keep_filter(tm_switch *sw, uint32_t number, const uint8_t *filter, uint32_t size) {
    uint32_t slot = sw != NULL && sw->keeps != NULL && filter != NULL ? keep_slot(sw, number) : KEEP_NONE;
    if (slot == KEEP_NONE || slot == KEEP_BOOK || keep_at(sw, slot)->is_closing) {
        return TM_MISUSED;
    }
    uint32_t id = keep_at(sw, slot)->subscriber;
    tm_subscriber *subscriber = switch_subscriber(sw, id);
    uint32_t row;
    int result = tm_subscriptions_begin(&sw->subscriptions, id, subscriber->filter_count, true,
                                        &subscriber->subscriptions, &row);
    if (result != TM_OK) {
        return result;
    }
    result = tm_subscriptions_add(&sw->subscriptions, row, filter, size);
    if (result != TM_OK) {
        tm_subscriptions_end(&sw->subscriptions, row, &subscriber->subscriptions);
        return result;
    }
    subscriber->filter_count++;
    subscriber->table_bytes += sw->subscriptions.rows[row].table_bytes;
    subscriber->subscription_count++;
    return TM_OK;
}

int tm_keep_dead_letter(tm_switch *sw, uint32_t number, uint32_t to) {
    uint32_t slot = sw != NULL && sw->keeps != NULL ? keep_slot(sw, number) : KEEP_NONE;
    if (slot == KEEP_NONE || slot == KEEP_BOOK) {
        return TM_ABSENT;
    }
    if (to == number) {
        return TM_MISUSED;
    }
    keep_at(sw, slot)->dead_letter = to;
    return TM_OK;
}

/* ---- deletion ---- */

static int begin_to_forget(tm_switch *sw, uint32_t slot) {
    tm_keep *keep = keep_at(sw, slot);
    tm_log_done done[2] = {{.holder = keep->number, .last = UINT64_MAX},
                           {.holder = keep->number | KEEP_UNACKED, .last = UINT64_MAX}};
    tm_log_entry entry = {.body = done,
                          .body_size = (keep_keeps_past(keep) ? 2 : 1) * (uint32_t)sizeof *done,
                          .kind = TM_LOG_FORGET,
                          .t_us = keep_wall_ms(sw) * 1000};
    uint64_t n;
    int result = keep_append(sw, &entry, &n);
    if (result != TM_OK) {
        return result;
    }
    while (keep->members != MEMBER_NONE) {
        keep_detach(sw, keep->members);
    }
    if (keep_account(keep)->tally_n != 0) {
        keep_retire_book(sw, keep->account->tally_n);
    }
    keep = keep_at(sw, slot);
    keep->is_closing = true;
    keep_disown(sw, keep);
    switch_subscriber(sw, keep->subscriber)->state = SUBSCRIBER_ENDED;
    return TM_OK;
}

int tm_keep_forget(tm_switch *sw, uint32_t number, uint32_t steps, uint32_t *left) {
    uint32_t slot = sw != NULL && sw->keeps != NULL && left != NULL ? keep_slot(sw, number) : KEEP_NONE;
    if (slot == KEEP_NONE || slot == KEEP_BOOK) {
        return TM_MISUSED;
    }
    switch_begin(sw);
    int result = keep_at(sw, slot)->is_closing ? TM_OK : begin_to_forget(sw, slot);
    if (result != TM_OK) {
        return result;
    }
    *left = switch_forget_subscriber(sw, keep_at(sw, slot)->subscriber, steps);
    if (*left == 0) {
        sw->keeps->live--;
        keep_clear(sw, keep_at(sw, slot));
        keep_free_slot(sw, slot);
    }
    keep_flush_done(sw);
    tm_log_flush(sw->keeps->log);
    return TM_OK;
}
