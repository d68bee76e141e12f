/* give.c - see give.h.
 *
 * Law: a message is out at one consumer at a time. It goes to the consumer with the most unused credit, after its
 * record is on disk, lowest position first. New messages are delivered while unacked_max leaves room; a returned
 * message is delivered regardless of that bound. With order_by, messages of one value go to one consumer at a time, in
 * order, and a message that returns brings back those delivered behind it; this holds for the first DURABLE_ORDER_ROWS
 * open messages. A delivery that does not fit the bound of the output queue is made later.
 */
#include "durable/consumers/give.h"

#include "base/tested.h"
#include "durable/consumers/hands.h"
#include "durable/core/attempts.h"
#include "durable/core/bodies.h"
#include "durable/core/bounds.h"
#include "durable/core/elsewhere.h"
#include "durable/core/record.h"
#include "durable/core/table.h"
#include "durable/messages/dead_letters.h"
#include "durable/messages/losses.h"
#include "durable/tables/attempts.h"
#include "durable/tables/index.h"
#include "switch/connections/outbox.h"

/* ---- attempts ---- */

static void hold(tm_switch *sw, uint32_t id, uint32_t consumer) {
    tm_attempt *attempt = durable_attempt(sw, id);
    attempt->holder = consumer;
    attempt->previous = ATTEMPT_NONE;
    attempt->next = durable_consumer(sw, consumer)->attempts;
    if (attempt->next != ATTEMPT_NONE) {
        durable_attempt(sw, attempt->next)->previous = id;
    }
    durable_consumer(sw, consumer)->attempts = id;
}

/* With order_by, make the messages of the value of a row that are out behind it ready as well. */
static void bring_along(tm_switch *sw, uint32_t slot, const tm_stored_row *row) {
    const tm_index *index = &durable_at(sw, slot)->index;
    uint64_t key = tm_index_keys(index, row)->order_key;
    for (uint32_t at = tm_index_from(index, row->n + 1); key != 0 && !TM_BREAKS(LEAVE_BEHIND) && at < index->fresh;
         at++) {
        const tm_stored_row *behind = &index->rows[at];
        if (tm_index_keys(index, behind)->order_key == key && behind->attempt != STORED_NO_ATTEMPT &&
            behind->state == ROW_OPEN && durable_attempt(sw, behind->attempt)->state == ATTEMPT_OUT) {
            durable_make_ready(sw, slot, behind->attempt);
        }
    }
}

static uint32_t backoff_of(const tm_durable_policy *policy, uint32_t failures) {
    uint32_t count = policy->backoff_count;
    return count == 0 ? 0 : policy->backoff_ms[(failures < count ? failures : count) - 1];
}

bool durable_fail(tm_switch *sw, uint32_t slot, tm_stored_row *row, const uint8_t *reason, uint32_t reason_size) {
    uint32_t most = durable_at(sw, slot)->policy->deliveries_max;
    uint32_t failures = ++durable_attempt(sw, row->attempt)->failures;
    if (most == 0 || failures < most) {
        return false;
    }
    durable_kill(sw, slot, row, reason, reason_size);
    return true;
}

void durable_take_back(tm_switch *sw, uint32_t slot, tm_stored_row *row, uint32_t delay_ms, const uint8_t *reason,
                       uint32_t reason_size) {
    tm_durable *durable = durable_at(sw, slot);
    tm_attempt *attempt = durable_attempt(sw, row->attempt);
    if (attempt->state != ATTEMPT_OUT) {
        return;
    }
    bring_along(sw, slot, row);
    static const uint8_t text[] = "delivery limit reached";
    if (durable_fail(sw, slot, row, reason_size > 0 ? reason : text, reason_size > 0 ? reason_size : sizeof text - 1)) {
        return;
    }
    tm_heap *due = &sw->durables->attempts.due;
    tm_heap_take(&sw->durables->attempts, due, row->attempt);
    attempt->state = ATTEMPT_PAUSED;
    durable->out--;
    durable->paused++;
    uint32_t wait_ms = delay_ms > 0 ? delay_ms : backoff_of(durable->policy, attempt->failures);
    tm_heap_put(&sw->durables->attempts, due, row->attempt, durable_now_ms(sw) + wait_ms);
}

/* ---- consumers ---- */

/* true if the connection is open, the consumer has credit and its output queue has room for a frame of `size` bytes. */
static bool has_room(tm_switch *sw, const tm_consumer *consumer, uint32_t size) {
    const tm_connection *connection = switch_at(sw, consumer->connection);
    uint64_t waiting = tm_lane_size(&connection->outbox.ordered);
    if (connection->state != CONNECTION_OPEN || consumer->sent >= consumer->credit) {
        return false;
    }
    bool fits = waiting == 0 || waiting + size <= connection->admission.queue_bytes_max;
    durable_at(sw, consumer->durable)->is_blocked |= !fits;
    return fits;
}

static uint32_t best_consumer(tm_switch *sw, const tm_durable *durable, uint32_t size) {
    uint32_t best = CONSUMER_NONE;
    uint64_t most = 0;
    for (uint32_t id = durable->consumers; id != CONSUMER_NONE; id = durable_consumer(sw, id)->next_of_durable) {
        const tm_consumer *consumer = durable_consumer(sw, id);
        if (consumer->credit > consumer->sent && consumer->credit - consumer->sent > most &&
            !durable_is_replaying(consumer) && (sw->guards == NULL || consumer->may_get) &&
            has_room(sw, consumer, size + DURABLE_DELIVER_BYTES)) {
            best = id;
            most = consumer->credit - consumer->sent;
        }
    }
    return best;
}

/* ---- frames ---- */

/* Return the flags of DELIVERIES for a row. */
static uint8_t bits_of(const tm_switch *sw, const tm_stored_row *row) {
    bool is_past = row->state == ROW_PAST;
    bool maybe = !is_past && !TM_BREAKS(MARK_NOTHING) && (row->maybe_duplicate || row->n <= sw->durables->recovered_to);
    return (uint8_t)((is_past ? WIRE_REPLAYED : 0) | (maybe ? WIRE_MAYBE_DUPLICATE : 0) |
                     (row->is_dead_letter ? WIRE_DEAD_LETTER : 0));
}

/* Write the DELIVER of a row; false: no memory. */
static bool send(tm_switch *sw, uint32_t id, const tm_body *body, const tm_stored_row *row, uint32_t deliveries) {
    tm_consumer *consumer = durable_consumer(sw, id);
    tm_connection *connection = switch_at(sw, consumer->connection);
    uint32_t size = body->size + DURABLE_DELIVER_BYTES;
    uint8_t *out = tm_outbox_append(&connection->outbox, &sw->memory, size);
    if (out == NULL) {
        return false;
    }
    memcpy(out, body->frame, WIRE_HEADER_BYTES);
    wire_store32(out, size);
    out[WIRE_KIND] = WIRE_DELIVER;
    out[WIRE_FLAGS] |= tm_load64(body->frame + WIRE_ORIGIN) == connection->admission.number ? WIRE_FLAG_OWN : 0;
    wire_store16(out + WIRE_EXTENSION_SIZE,
                 (uint16_t)(tm_load16(body->frame + WIRE_EXTENSION_SIZE) + DURABLE_DELIVER_BYTES));
    uint8_t *at = out + WIRE_HEADER_BYTES;
    wire_store16(at, WIRE_SATISFIED);
    wire_store16(at + 2, 4);
    wire_store32(at + 4, consumer->id);
    wire_store16(at + 8, WIRE_LOG_POSITION);
    wire_store16(at + 10, 8);
    wire_store64(at + 12, row->n);
    wire_store16(at + 20, WIRE_DELIVERIES);
    wire_store16(at + 22, 5);
    wire_store32(at + 24, deliveries);
    at[28] = bits_of(sw, row);
    memcpy(at + DURABLE_DELIVER_BYTES, body->frame + WIRE_HEADER_BYTES, body->size - WIRE_HEADER_BYTES);
    durable_record_given(sw, consumer, row, durable_id_of(body->frame), deliveries,
                         (at[28] & WIRE_MAYBE_DUPLICATE) != 0);
    consumer->sent++;
    connection->traffic.deliveries++;
    sw->stats.deliveries++;
    uint64_t waiting = tm_lane_size(&connection->outbox.ordered);
    connection->traffic.queued_peak =
        waiting > connection->traffic.queued_peak ? waiting : connection->traffic.queued_peak;
    switch_mark_dirty(sw, consumer->connection);
    return true;
}

/* ---- delivery ---- */

/* true if a row cannot be delivered: it is lost if its frame cannot be read, and a dead letter if its frame exceeds the
 * maximum of the consumer. */
static bool is_hopeless(tm_switch *sw, uint32_t slot, tm_stored_row *row, tm_body_result found, uint32_t consumer) {
    tm_durable *durable = durable_at(sw, slot);
    if (found == BODY_MISSING) {
        return durable_lose(sw, slot, (uint32_t)(row - durable->index.rows), LEFT_DAMAGED);
    }
    const tm_connection *connection = switch_at(sw, durable_consumer(sw, consumer)->connection);
    if (row->size + DURABLE_DELIVER_BYTES > connection->admission.frame_bytes_max) {
        static const uint8_t text[] = "larger than the consumer's maximum frame";
        durable_kill(sw, slot, row, text, sizeof text - 1);
        return true;
    }
    return false;
}

static uint32_t begin_attempt(tm_switch *sw, uint32_t slot, tm_stored_row *row) {
    tm_durable *durable = durable_at(sw, slot);
    uint32_t id = tm_attempts_begin(&sw->durables->attempts, &durable->ready, durable->attempt_count);
    if (id != ATTEMPT_NONE) {
        durable_attempt(sw, id)->n = row->n;
        durable_attempt(sw, id)->durable = slot;
        durable_attempt(sw, id)->state = ATTEMPT_READY;
        tm_heap_put(&sw->durables->attempts, &durable->ready, id, row->n);
        row->attempt = id;
        durable->attempt_count++;
    }
    return id;
}

/* Deliver a row to a consumer; false: it has to wait, and the rows behind it as well. */
static bool give(tm_switch *sw, uint32_t slot, tm_stored_row *row, uint32_t consumer) {
    tm_durable *durable = durable_at(sw, slot);
    if (row->state == ROW_UNKNOWN) {
        return durable_tell_unknown(sw, slot, (uint32_t)(row - durable->index.rows));
    }
    if (durable_is_over(sw, durable, row)) {
        return durable_lose(sw, slot, (uint32_t)(row - durable->index.rows), LEFT_EXPIRED);
    }
    tm_body body;
    tm_body_result found = durable_body(sw, slot, row, &body);
    if (found == BODY_LATER) {
        return false;
    }
    if (row->attempt == STORED_NO_ATTEMPT && begin_attempt(sw, slot, row) == ATTEMPT_NONE) {
        return false;
    }
    uint32_t at = (uint32_t)(row - durable->index.rows);
    durable->index.fresh = at >= durable->index.fresh ? at + 1 : durable->index.fresh;
    if (is_hopeless(sw, slot, row, found, consumer)) {
        return true;
    }
    tm_attempt *attempt = durable_attempt(sw, row->attempt);
    if (found == BODY_MISSING || !send(sw, consumer, &body, row, TM_BREAKS(COUNT_ONE) ? 1 : attempt->deliveries + 1)) {
        return false;
    }
    tm_heap_take(&sw->durables->attempts, &durable->ready, row->attempt);
    uint64_t until_ms = TM_BREAKS(TAKE_BACK_NEVER) ? UINT64_MAX : durable_now_ms(sw) + durable->policy->ack_wait_ms;
    tm_heap_put(&sw->durables->attempts, &sw->durables->attempts.due, row->attempt, until_ms);
    attempt->state = ATTEMPT_OUT;
    attempt->deliveries++;
    durable_resume(sw, row->attempt);
    hold(sw, row->attempt, consumer);
    durable->out++;
    durable->account->delivered++;
    durable->account->redelivered += attempt->deliveries > 1;
    if (TM_BREAKS(GIVE_TO_SEVERAL) && durable->consumer_count > 1 && attempt->deliveries == 1) {
        durable_make_ready(sw, slot, row->attempt);
    }
    return true;
}

/* Return the next row to deliver, a returned one or else the first that was never delivered. NULL: there is none. */
static tm_stored_row *next_row(tm_switch *sw, tm_durable *durable) {
    uint32_t id = tm_heap_least(&durable->ready);
    if (id != ATTEMPT_NONE) {
        bool stalls = TM_BREAKS(STALL_AT_BOUND) && durable->attempt_count >= durable->policy->unacked_max;
        return stalls ? NULL : tm_index_find(&durable->index, durable_attempt(sw, id)->n);
    }
    tm_stored_row *again = durable_again(durable);
    if (again != NULL) {
        return durable->attempt_count < durable->policy->unacked_max ? again : NULL;
    }
    tm_index *index = &durable->index;
    while (index->fresh < index->end && index->rows[index->fresh].state != ROW_OPEN &&
           index->rows[index->fresh].state != ROW_UNKNOWN) {
        index->fresh++;
    }
    bool may = index->fresh < index->end && durable->attempt_count < durable->policy->unacked_max &&
               (index->rows[index->fresh].n <= sw->durables->committed || TM_BREAKS(GIVE_EARLY));
    return may ? &index->rows[index->fresh] : NULL;
}

static uint32_t give_plainly(tm_switch *sw, uint32_t slot) {
    uint32_t given = 0;
    for (; given < DURABLE_GIVEN_MAX; given++) {
        tm_stored_row *row = next_row(sw, durable_at(sw, slot));
        if (row != NULL && sw->guards != NULL && durable_hold_back(sw, slot, row)) {
            continue;
        }
        uint32_t size = row != NULL && row->state == ROW_OPEN ? row->size : 0;
        uint32_t consumer = row != NULL ? best_consumer(sw, durable_at(sw, slot), size) : CONSUMER_NONE;
        if (consumer == CONSUMER_NONE || !give(sw, slot, row, consumer)) {
            break;
        }
    }
    return given;
}

/* ---- order_by ---- */

/* Return the lane of a value; an unused lane has an older stamp. */
static tm_durable_lane *lane_of(tm_durables *durables, uint64_t key) {
    uint32_t at = (uint32_t)(key >> 20) % DURABLE_LANES;
    while (durables->lanes[at].stamp == durables->stamp && durables->lanes[at].key != key) {
        at = (at + 1) % DURABLE_LANES;
    }
    return &durables->lanes[at];
}

static bool may_go(const tm_switch *sw, const tm_durable *durable, const tm_stored_row *row) {
    if (row->n > sw->durables->committed) {
        return false;
    }
    return row->attempt == STORED_NO_ATTEMPT ? durable->attempt_count < durable->policy->unacked_max
                                             : durable_attempt(sw, row->attempt)->state == ATTEMPT_READY;
}

/* Return the consumer that may get a row; `in_front`: an earlier row has this value, and `lane` describes it. */
static uint32_t consumer_for(tm_switch *sw, const tm_durable *durable, const tm_stored_row *row,
                             const tm_durable_lane *lane, bool in_front) {
    if (!in_front || TM_BREAKS(FORGET_LANES)) {
        return best_consumer(sw, durable, row->size);
    }
    bool is_free = lane->holder != CONSUMER_NONE &&
                   (sw->guards == NULL || durable_consumer(sw, lane->holder)->may_get) &&
                   has_room(sw, durable_consumer(sw, lane->holder), row->size + DURABLE_DELIVER_BYTES);
    return is_free ? lane->holder : CONSUMER_NONE;
}

static uint32_t give_in_order(tm_switch *sw, uint32_t slot) {
    tm_durable *durable = durable_at(sw, slot);
    uint32_t given = 0;
    sw->durables->stamp++;
    uint32_t looked_at = 0;
    for (uint32_t at = durable->index.first;
         at < durable->index.end && looked_at < DURABLE_ORDER_ROWS && given < DURABLE_GIVEN_MAX; at++) {
        tm_stored_row *row =
            &durable->index.rows[TM_BREAKS(NEWEST_FIRST) ? durable->index.end - 1 - (at - durable->index.first) : at];
        bool is_unknown = row->state == ROW_UNKNOWN && row->n <= sw->durables->committed;
        if (is_unknown && (best_consumer(sw, durable, 0) == CONSUMER_NONE || !durable_tell_unknown(sw, slot, at))) {
            break; /* rows behind it are delivered after it */
        }
        if (row->state != ROW_OPEN || row->is_held) {
            continue;
        }
        looked_at++;
        uint64_t key = tm_index_keys(&durable->index, row)->order_key;
        tm_durable_lane *lane = key != 0 ? lane_of(sw->durables, key) : NULL;
        bool in_front = lane != NULL && lane->stamp == sw->durables->stamp;
        bool is_out = row->attempt != STORED_NO_ATTEMPT && durable_attempt(sw, row->attempt)->state == ATTEMPT_OUT;
        uint32_t holder = is_out ? durable_attempt(sw, row->attempt)->holder : CONSUMER_NONE;
        if (!is_out && may_go(sw, durable, row)) {
            if (sw->guards != NULL && durable_hold_back(sw, slot, row)) {
                continue;
            }
            uint32_t consumer = consumer_for(sw, durable, row, lane, in_front);
            if (consumer != CONSUMER_NONE && !give(sw, slot, row, consumer)) {
                break;
            }
            bool is_given = consumer != CONSUMER_NONE && row->state == ROW_OPEN && row->attempt != STORED_NO_ATTEMPT &&
                            durable_attempt(sw, row->attempt)->state == ATTEMPT_OUT;
            holder = is_given ? consumer : CONSUMER_NONE;
            given += consumer != CONSUMER_NONE;
        }
        if (lane != NULL && row->state == ROW_OPEN) {
            *lane = (tm_durable_lane){.key = key, .stamp = sw->durables->stamp, .holder = holder};
        }
    }
    return given;
}

/* ---- replay ---- */

/* Replay retained acknowledged messages to a consumer until it has no room. */
static void replay(tm_switch *sw, uint32_t slot, uint32_t id) {
    tm_durable *durable = durable_at(sw, slot);
    tm_consumer *consumer = durable_consumer(sw, id);
    for (uint32_t at = tm_index_from(&durable->index, consumer->replayed_to + 1); at < durable->index.end; at++) {
        tm_stored_row *row = &durable->index.rows[at];
        if (row->state != ROW_PAST || durable_is_over(sw, durable, row)) {
            continue;
        }
        tm_body body;
        if (!has_room(sw, consumer, row->size + DURABLE_DELIVER_BYTES)) {
            return;
        }
        tm_body_result found = durable_body(sw, slot, row, &body);
        bool may = found == BODY_FOUND && (sw->guards == NULL || durable_may_get(sw, slot, id, &body));
        if (found == BODY_LATER || (may && !send(sw, id, &body, row, 0))) {
            return;
        }
        consumer->replayed_to = row->n;
    }
    consumer->replayed_to = UINT64_MAX;
}

void durable_hand_out(tm_switch *sw, uint32_t slot) {
    tm_durable *durable = durable_at(sw, slot);
    durable->is_blocked = false;
    if (durable->dying > 0 && !durable_write_dead_letters(sw, slot)) {
        return;
    }
    for (uint32_t id = durable->consumers; id != CONSUMER_NONE; id = durable_consumer(sw, id)->next_of_durable) {
        if (durable_is_replaying(durable_consumer(sw, id))) {
            replay(sw, slot, id); /* as far as it has room; other consumers do not wait for it */
        }
    }
    uint32_t given = durable->policy->order_by_size > 0 ? give_in_order(sw, slot) : give_plainly(sw, slot);
    if (given >= DURABLE_GIVEN_MAX) {
        durable_make_due(sw, slot);
        durable_wake(sw);
    }
}
