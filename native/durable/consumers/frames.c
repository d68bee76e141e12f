/* frames.c - see frames.h.
 *
 * Law: a frame is validated whole before any of it is applied. A frame that differs from the wire page or names no
 * consumer of its connection is passed to Python, which refuses it or treats it as a fault.
 */
#include "durable/consumers/frames.h"

#include "base/tested.h"
#include "durable/consumers/consumers.h"
#include "durable/consumers/give.h"
#include "durable/core/attempts.h"
#include "durable/core/done.h"
#include "durable/core/table.h"
#include "durable/messages/answers.h"
#include "durable/messages/dead_letters.h"
#include "durable/messages/leave.h"
#include "durable/tables/attempts.h"
#include "durable/tables/index.h"
#include "durable/tables/said.h"

/* ---- verdicts ---- */

static void extend(tm_switch *sw, const tm_durable *durable, uint32_t id) {
    tm_attempts *attempts = &sw->durables->attempts;
    if (attempts->rows[id].state == ATTEMPT_OUT && !TM_BREAKS(EXTEND_NOT)) {
        tm_heap_take(attempts, &attempts->due, id);
        tm_heap_put(attempts, &attempts->due, id, durable_now_ms(sw) + durable->policy->ack_wait_ms);
    }
}

/* An acknowledgement that cannot be recorded leaves the message open: if the message left, the next ACK of it would be
 * confirmed. */
static void acknowledge(tm_switch *sw, uint32_t slot, uint32_t at) {
    if (durable_reserve_done(sw)) {
        durable_leave(sw, slot, at, LEFT_ACKED);
    } else {
        sw->durables->is_done_forgotten = true;
    }
}

static void judge(tm_switch *sw, uint32_t slot, uint32_t at, const tm_said_ack *said) {
    static const uint8_t rejected[] = "rejected";
    tm_durable *durable = durable_at(sw, slot);
    tm_stored_row *row = &durable->index.rows[at];
    switch ((tm_verdict)said->verdict) {
    case VERDICT_DONE:
        acknowledge(sw, slot, at);
        break;
    case VERDICT_AGAIN:
        durable_take_back(sw, slot, row, (uint32_t)said->delay_ms, said->reason, said->reason_size);
        break;
    case VERDICT_EXTEND:
        extend(sw, durable, row->attempt);
        break;
    default:
        durable_kill(sw, slot, row, said->reason_size > 0 ? said->reason : rejected,
                     said->reason_size > 0 ? said->reason_size : sizeof rejected - 1);
    }
}

/* Apply the verdict to the rows of a range that the consumer has or had last. */
static void judge_range(tm_switch *sw, uint32_t consumer, uint64_t first, uint64_t last, const tm_said_ack *said) {
    uint32_t slot = durable_consumer(sw, consumer)->durable;
    const tm_index *index = &durable_at(sw, slot)->index;
    bool is_any = TM_BREAKS(ACK_UNGIVEN) && said->verdict == VERDICT_DONE;
    for (uint32_t at = tm_index_from(index, first);
         at < (is_any ? index->end : index->fresh) && index->rows[at].n <= last; at++) {
        const tm_stored_row *row = &index->rows[at];
        bool is_its_own = row->state == ROW_OPEN && row->attempt != STORED_NO_ATTEMPT &&
                          (sw->durables->attempts.rows[row->attempt].holder == consumer || TM_BREAKS(ACK_OF_OTHERS)) &&
                          !sw->durables->attempts.rows[row->attempt].is_dying;
        if (is_its_own || (is_any && row->state == ROW_OPEN)) {
            judge(sw, slot, at, said);
        }
    }
}

bool durable_take_ack(tm_switch *sw, uint32_t connection, const uint8_t *frame, uint32_t size) {
    tm_said_ack said;
    if (!tm_said_read_ack(frame + WIRE_PREFIX_BYTES, size - WIRE_PREFIX_BYTES, &said)) {
        return false;
    }
    uint32_t consumer = durable_consumer_of(sw, connection, (uint32_t)said.subscription);
    if (consumer == CONSUMER_NONE) {
        return false;
    }
    uint32_t slot = durable_consumer(sw, consumer)->durable;
    sw->durables->is_done_forgotten = false;
    tm_cursor ranges = tm_said_ranges(&said);
    for (uint32_t i = 0; i < said.range_count; i++) {
        uint64_t first;
        uint64_t last;
        tm_said_next(&ranges, &first, &last);
        judge_range(sw, consumer, first, last, &said);
    }
    durable_make_due(sw, slot); /* there may be room for more deliveries */
    if (said.request != 0) {
        durable_promise(sw, connection, slot, frame, &said);
    }
    return true;
}

bool durable_take_credit(tm_switch *sw, uint32_t connection, const uint8_t *frame, uint32_t size) {
    tm_said_credit said;
    if (!tm_said_read_credit(frame + WIRE_PREFIX_BYTES, size - WIRE_PREFIX_BYTES, &said)) {
        return false;
    }
    uint32_t consumer = durable_consumer_of(sw, connection, (uint32_t)said.subscription);
    if (consumer == CONSUMER_NONE) {
        return false;
    }
    tm_consumer *row = durable_consumer(sw, consumer);
    row->credit = said.deliveries > row->credit ? said.deliveries : row->credit;
    durable_make_due(sw, row->durable);
    return true;
}
