/* give.c - see give.h.
 *
 * Law: a message is out at one consumer at a time. It goes to the consumer with the most unused credit, after its
 * record is on disk, lowest position first. New messages are delivered while unacked_max leaves room; a returned
 * message is delivered regardless of that bound. With order_by, messages of one value go to one consumer at a time, in
 * order, and a message that returns brings back those delivered behind it; this holds for the first KEEP_ORDER_ROWS
 * open messages. A delivery that does not fit the bound of the output queue is made later.
 */
#include "durable/members/give.h"

#include "base/tested.h"
#include "durable/keep/attempts.h"
#include "durable/keep/bodies.h"
#include "durable/keep/bounds.h"
#include "durable/keep/elsewhere.h"
#include "durable/keep/record.h"
#include "durable/keep/table.h"
#include "durable/messages/letters.h"
#include "durable/messages/losses.h"
#include "durable/tables/attempts.h"
#include "durable/tables/index.h"
#include "switch/connections/outbox.h"

/* ---- attempts ---- */

static void hold(tm_switch *sw, uint32_t id, uint32_t member) {
    tm_attempt *attempt = keep_attempt(sw, id);
    attempt->holder = member;
    attempt->previous = ATTEMPT_NONE;
    attempt->next = keep_member(sw, member)->attempts;
    if (attempt->next != ATTEMPT_NONE) {
        keep_attempt(sw, attempt->next)->previous = id;
    }
    keep_member(sw, member)->attempts = id;
}

/* With order_by, make the messages of the value of a row that are out behind it ready as well. */
static void bring_along(tm_switch *sw, uint32_t slot, const tm_kept *row) {
    const tm_index *index = &keep_at(sw, slot)->index;
    uint64_t key = tm_index_keys(index, row)->order_key;
    for (uint32_t at = tm_index_from(index, row->n + 1); key != 0 && !TM_BREAKS(LEAVE_BEHIND) && at < index->fresh;
         at++) {
        const tm_kept *behind = &index->rows[at];
        if (tm_index_keys(index, behind)->order_key == key && behind->attempt != KEPT_NO_ATTEMPT &&
            behind->state == KEPT_OPEN && keep_attempt(sw, behind->attempt)->state == ATTEMPT_OUT) {
            keep_make_ready(sw, slot, behind->attempt);
        }
    }
}

static uint32_t backoff_of(const tm_keep_terms *terms, uint32_t failures) {
    uint32_t count = terms->backoff_count;
    return count == 0 ? 0 : terms->backoff_ms[(failures < count ? failures : count) - 1];
}

bool keep_fail(tm_switch *sw, uint32_t slot, tm_kept *row, const uint8_t *reason, uint32_t reason_size) {
    uint32_t most = keep_at(sw, slot)->terms->deliveries_max;
    uint32_t failures = ++keep_attempt(sw, row->attempt)->failures;
    if (most == 0 || failures < most) {
        return false;
    }
    keep_kill(sw, slot, row, reason, reason_size);
    return true;
}

void keep_take_back(tm_switch *sw, uint32_t slot, tm_kept *row, uint32_t delay_ms, const uint8_t *reason,
                    uint32_t reason_size) {
    tm_keep *keep = keep_at(sw, slot);
    tm_attempt *attempt = keep_attempt(sw, row->attempt);
    if (attempt->state != ATTEMPT_OUT) {
        return;
    }
    bring_along(sw, slot, row);
    static const uint8_t text[] = "given out as often as it may be";
    if (keep_fail(sw, slot, row, reason_size > 0 ? reason : text, reason_size > 0 ? reason_size : sizeof text - 1)) {
        return;
    }
    tm_heap *due = &sw->keeps->attempts.due;
    tm_heap_take(&sw->keeps->attempts, due, row->attempt);
    attempt->state = ATTEMPT_PAUSED;
    keep->out--;
    keep->paused++;
    uint32_t wait_ms = delay_ms > 0 ? delay_ms : backoff_of(keep->terms, attempt->failures);
    tm_heap_put(&sw->keeps->attempts, due, row->attempt, keep_now_ms(sw) + wait_ms);
}

/* ---- consumers ---- */

/* true if the connection is open, the consumer has credit and its output queue has room for a frame of `size` bytes. */
static bool has_room(tm_switch *sw, const tm_member *member, uint32_t size) {
    const tm_connection *connection = switch_at(sw, member->connection);
    uint64_t waiting = tm_lane_size(&connection->outbox.ordered);
    if (connection->state != CONNECTION_OPEN || member->sent >= member->credit) {
        return false;
    }
    bool fits = waiting == 0 || waiting + size <= connection->admission.queue_bytes_max;
    keep_at(sw, member->keep)->is_blocked |= !fits;
    return fits;
}

static uint32_t best_member(tm_switch *sw, const tm_keep *keep, uint32_t size) {
    uint32_t best = MEMBER_NONE;
    uint64_t most = 0;
    for (uint32_t id = keep->members; id != MEMBER_NONE; id = keep_member(sw, id)->next_of_keep) {
        const tm_member *member = keep_member(sw, id);
        if (member->credit > member->sent && member->credit - member->sent > most && !keep_is_replaying(member) &&
            has_room(sw, member, size + KEEP_DELIVER_BYTES)) {
            best = id;
            most = member->credit - member->sent;
        }
    }
    return best;
}

/* ---- frames ---- */

/* Return the flags of DELIVERIES for a row. */
static uint8_t bits_of(const tm_switch *sw, const tm_kept *row) {
    bool is_past = row->state == KEPT_PAST;
    bool maybe = !is_past && !TM_BREAKS(MARK_NOTHING) && (row->maybe_duplicate || row->n <= sw->keeps->recovered_to);
    return (uint8_t)((is_past ? WIRE_REPLAYED : 0) | (maybe ? WIRE_MAYBE_DUPLICATE : 0) |
                     (row->is_letter ? WIRE_DEAD_LETTER : 0));
}

/* Write the DELIVER of a row; false: no memory. */
static bool send(tm_switch *sw, uint32_t id, const tm_body *body, const tm_kept *row, uint32_t deliveries) {
    tm_member *member = keep_member(sw, id);
    tm_connection *connection = switch_at(sw, member->connection);
    uint32_t size = body->size + KEEP_DELIVER_BYTES;
    uint8_t *out = tm_outbox_append(&connection->outbox, &sw->memory, size);
    if (out == NULL) {
        return false;
    }
    memcpy(out, body->frame, WIRE_HEADER_BYTES);
    wire_store32(out, size);
    out[WIRE_KIND] = WIRE_DELIVER;
    out[WIRE_FLAGS] |= tm_load64(body->frame + WIRE_ORIGIN) == connection->admission.number ? WIRE_FLAG_OWN : 0;
    wire_store16(out + WIRE_EXTENSION_SIZE,
                 (uint16_t)(tm_load16(body->frame + WIRE_EXTENSION_SIZE) + KEEP_DELIVER_BYTES));
    uint8_t *at = out + WIRE_HEADER_BYTES;
    wire_store16(at, WIRE_SATISFIED);
    wire_store16(at + 2, 4);
    wire_store32(at + 4, member->id);
    wire_store16(at + 8, WIRE_LOG_POSITION);
    wire_store16(at + 10, 8);
    wire_store64(at + 12, row->n);
    wire_store16(at + 20, WIRE_DELIVERIES);
    wire_store16(at + 22, 5);
    wire_store32(at + 24, deliveries);
    at[28] = bits_of(sw, row);
    memcpy(at + KEEP_DELIVER_BYTES, body->frame + WIRE_HEADER_BYTES, body->size - WIRE_HEADER_BYTES);
    keep_record_given(sw, member, row, keep_id_of(body->frame), deliveries, (at[28] & WIRE_MAYBE_DUPLICATE) != 0);
    member->sent++;
    connection->traffic.deliveries++;
    sw->stats.deliveries++;
    uint64_t waiting = tm_lane_size(&connection->outbox.ordered);
    connection->traffic.queued_peak =
        waiting > connection->traffic.queued_peak ? waiting : connection->traffic.queued_peak;
    switch_mark_dirty(sw, member->connection);
    return true;
}

/* ---- delivery ---- */

/* true if a row cannot be delivered: it is lost if its frame cannot be read, and a dead letter if its frame exceeds the
 * maximum of the consumer. */
static bool is_hopeless(tm_switch *sw, uint32_t slot, tm_kept *row, tm_body_result found, uint32_t member) {
    tm_keep *keep = keep_at(sw, slot);
    if (found == BODY_MISSING) {
        return keep_lose(sw, slot, (uint32_t)(row - keep->index.rows), LEFT_DAMAGED);
    }
    const tm_connection *connection = switch_at(sw, keep_member(sw, member)->connection);
    if (row->size + KEEP_DELIVER_BYTES > connection->admission.frame_bytes_max) {
        static const uint8_t text[] = "larger than its receiver takes";
        keep_kill(sw, slot, row, text, sizeof text - 1);
        return true;
    }
    return false;
}

static uint32_t begin_attempt(tm_switch *sw, uint32_t slot, tm_kept *row) {
    tm_keep *keep = keep_at(sw, slot);
    uint32_t id = tm_attempts_begin(&sw->keeps->attempts, &keep->ready, keep->attempt_count);
    if (id != ATTEMPT_NONE) {
        keep_attempt(sw, id)->n = row->n;
        keep_attempt(sw, id)->keep = slot;
        keep_attempt(sw, id)->state = ATTEMPT_READY;
        tm_heap_put(&sw->keeps->attempts, &keep->ready, id, row->n);
        row->attempt = id;
        keep->attempt_count++;
    }
    return id;
}

/* Deliver a row to a consumer; false: it has to wait, and the rows behind it as well. */
static bool give(tm_switch *sw, uint32_t slot, tm_kept *row, uint32_t member) {
    tm_keep *keep = keep_at(sw, slot);
    if (row->state == KEPT_DOUBT) {
        return keep_tell_doubt(sw, slot, (uint32_t)(row - keep->index.rows));
    }
    if (keep_is_over(sw, keep, row)) {
        return keep_lose(sw, slot, (uint32_t)(row - keep->index.rows), LEFT_EXPIRED);
    }
    tm_body body;
    tm_body_result found = keep_body(sw, slot, row, &body);
    if (found == BODY_LATER) {
        return false;
    }
    if (row->attempt == KEPT_NO_ATTEMPT && begin_attempt(sw, slot, row) == ATTEMPT_NONE) {
        return false;
    }
    uint32_t at = (uint32_t)(row - keep->index.rows);
    keep->index.fresh = at >= keep->index.fresh ? at + 1 : keep->index.fresh;
    if (is_hopeless(sw, slot, row, found, member)) {
        return true;
    }
    tm_attempt *attempt = keep_attempt(sw, row->attempt);
    if (found == BODY_MISSING || !send(sw, member, &body, row, TM_BREAKS(COUNT_ONE) ? 1 : attempt->deliveries + 1)) {
        return false;
    }
    tm_heap_take(&sw->keeps->attempts, &keep->ready, row->attempt);
    uint64_t until_ms = TM_BREAKS(TAKE_BACK_NEVER) ? UINT64_MAX : keep_now_ms(sw) + keep->terms->ack_wait_ms;
    tm_heap_put(&sw->keeps->attempts, &sw->keeps->attempts.due, row->attempt, until_ms);
    attempt->state = ATTEMPT_OUT;
    attempt->deliveries++;
    keep_unhold(sw, row->attempt);
    hold(sw, row->attempt, member);
    keep->out++;
    keep->account->delivered++;
    keep->account->redelivered += attempt->deliveries > 1;
    if (TM_BREAKS(GIVE_TO_SEVERAL) && keep->member_count > 1 && attempt->deliveries == 1) {
        keep_make_ready(sw, slot, row->attempt);
    }
    return true;
}

/* Return the next row to deliver, a returned one or else the first that was never delivered. NULL: there is none. */
static tm_kept *next_row(tm_switch *sw, tm_keep *keep) {
    uint32_t id = tm_heap_least(&keep->ready);
    if (id != ATTEMPT_NONE) {
        bool stalls = TM_BREAKS(STALL_AT_BOUND) && keep->attempt_count >= keep->terms->unacked_max;
        return stalls ? NULL : tm_index_find(&keep->index, keep_attempt(sw, id)->n);
    }
    tm_index *index = &keep->index;
    while (index->fresh < index->end && index->rows[index->fresh].state != KEPT_OPEN &&
           index->rows[index->fresh].state != KEPT_DOUBT) {
        index->fresh++;
    }
    bool may = index->fresh < index->end && keep->attempt_count < keep->terms->unacked_max &&
               (index->rows[index->fresh].n <= sw->keeps->committed || TM_BREAKS(GIVE_EARLY));
    return may ? &index->rows[index->fresh] : NULL;
}

static uint32_t give_plainly(tm_switch *sw, uint32_t slot) {
    uint32_t given = 0;
    for (; given < KEEP_GIVEN_MAX; given++) {
        tm_kept *row = next_row(sw, keep_at(sw, slot));
        uint32_t member = row != NULL ? best_member(sw, keep_at(sw, slot), row->size) : MEMBER_NONE;
        if (member == MEMBER_NONE || !give(sw, slot, row, member)) {
            break;
        }
    }
    return given;
}

/* ---- order_by ---- */

/* Return the lane of a value; an unused lane has an older stamp. */
static tm_keep_lane *lane_of(tm_keeps *keeps, uint64_t key) {
    uint32_t at = (uint32_t)(key >> 20) % KEEP_LANES;
    while (keeps->lanes[at].stamp == keeps->stamp && keeps->lanes[at].key != key) {
        at = (at + 1) % KEEP_LANES;
    }
    return &keeps->lanes[at];
}

static bool may_go(const tm_switch *sw, const tm_keep *keep, const tm_kept *row) {
    if (row->n > sw->keeps->committed) {
        return false;
    }
    return row->attempt == KEPT_NO_ATTEMPT ? keep->attempt_count < keep->terms->unacked_max
                                           : keep_attempt(sw, row->attempt)->state == ATTEMPT_READY;
}

/* Return the consumer that may get a row; `in_front`: an earlier row has this value, and `lane` describes it. */
static uint32_t member_for(tm_switch *sw, const tm_keep *keep, const tm_kept *row, const tm_keep_lane *lane,
                           bool in_front) {
    if (!in_front || TM_BREAKS(FORGET_LANES)) {
        return best_member(sw, keep, row->size);
    }
    bool is_free =
        lane->holder != MEMBER_NONE && has_room(sw, keep_member(sw, lane->holder), row->size + KEEP_DELIVER_BYTES);
    return is_free ? lane->holder : MEMBER_NONE;
}

static uint32_t give_in_order(tm_switch *sw, uint32_t slot) {
    tm_keep *keep = keep_at(sw, slot);
    uint32_t given = 0;
    sw->keeps->stamp++;
    uint32_t looked_at = 0;
    for (uint32_t at = keep->index.first; at < keep->index.end && looked_at < KEEP_ORDER_ROWS && given < KEEP_GIVEN_MAX;
         at++) {
        tm_kept *row = &keep->index.rows[TM_BREAKS(NEWEST_FIRST) ? keep->index.end - 1 - (at - keep->index.first) : at];
        bool is_doubt = row->state == KEPT_DOUBT && row->n <= sw->keeps->committed;
        if (is_doubt && (best_member(sw, keep, 0) == MEMBER_NONE || !keep_tell_doubt(sw, slot, at))) {
            break; /* rows behind it are delivered after it */
        }
        if (row->state != KEPT_OPEN) {
            continue;
        }
        looked_at++;
        uint64_t key = tm_index_keys(&keep->index, row)->order_key;
        tm_keep_lane *lane = key != 0 ? lane_of(sw->keeps, key) : NULL;
        bool in_front = lane != NULL && lane->stamp == sw->keeps->stamp;
        bool is_out = row->attempt != KEPT_NO_ATTEMPT && keep_attempt(sw, row->attempt)->state == ATTEMPT_OUT;
        uint32_t holder = is_out ? keep_attempt(sw, row->attempt)->holder : MEMBER_NONE;
        if (!is_out && may_go(sw, keep, row)) {
            uint32_t member = member_for(sw, keep, row, lane, in_front);
            if (member != MEMBER_NONE && !give(sw, slot, row, member)) {
                break;
            }
            bool is_given = member != MEMBER_NONE && row->state == KEPT_OPEN && row->attempt != KEPT_NO_ATTEMPT &&
                            keep_attempt(sw, row->attempt)->state == ATTEMPT_OUT;
            holder = is_given ? member : MEMBER_NONE;
            given += member != MEMBER_NONE;
        }
        if (lane != NULL && row->state == KEPT_OPEN) {
            *lane = (tm_keep_lane){.key = key, .stamp = sw->keeps->stamp, .holder = holder};
        }
    }
    return given;
}

/* ---- replay ---- */

/* Replay retained acknowledged messages to a consumer until it has no room. */
static void replay(tm_switch *sw, uint32_t slot, uint32_t id) {
    tm_keep *keep = keep_at(sw, slot);
    tm_member *member = keep_member(sw, id);
    for (uint32_t at = tm_index_from(&keep->index, member->replayed_to + 1); at < keep->index.end; at++) {
        tm_kept *row = &keep->index.rows[at];
        if (row->state != KEPT_PAST || keep_is_over(sw, keep, row)) {
            continue;
        }
        tm_body body;
        if (!has_room(sw, member, row->size + KEEP_DELIVER_BYTES)) {
            return;
        }
        tm_body_result found = keep_body(sw, slot, row, &body);
        if (found == BODY_LATER || (found == BODY_FOUND && !send(sw, id, &body, row, 0))) {
            return;
        }
        member->replayed_to = row->n;
    }
    member->replayed_to = UINT64_MAX;
}

void keep_hand_out(tm_switch *sw, uint32_t slot) {
    tm_keep *keep = keep_at(sw, slot);
    keep->is_blocked = false;
    if (keep->dying > 0 && !keep_write_letters(sw, slot)) {
        return;
    }
    for (uint32_t id = keep->members; id != MEMBER_NONE; id = keep_member(sw, id)->next_of_keep) {
        if (keep_is_replaying(keep_member(sw, id))) {
            replay(sw, slot, id); /* as far as it has room; other consumers do not wait for it */
        }
    }
    uint32_t given = keep->terms->order_by_size > 0 ? give_in_order(sw, slot) : give_plainly(sw, slot);
    if (given >= KEEP_GIVEN_MAX) {
        keep_make_due(sw, slot);
        keep_wake(sw);
    }
}
