/* keep_frames.c - ACK and CREDIT frames of members.
 *
 * Law: a frame is looked at whole before anything is done. One that is not as the wire page has it, or names no
 * attachment of its connection, goes up, where it is refused or is a fault. What an ACK asks to be told is told when
 * all that it says is on disk.
 */
#include "keeps/said.h"
#include "switch/keeps.h"

/* ---- what it says ---- */

static void extend(tm_switch *sw, const tm_keep *keep, uint32_t id) {
    tm_tries *tries = &sw->keeps->tries;
    if (tries->rows[id].state == TRY_OUT) {
        tm_heap_take(tries, &tries->due, id);
        tm_heap_put(tries, &tries->due, id, sw->now_ms + keep->terms->ack_wait_ms);
    }
}

static void judge(tm_switch *sw, uint32_t slot, uint32_t at, const tm_said_ack *said) {
    static const uint8_t rejected[] = "rejected";
    tm_keep *keep = keep_at(sw, slot);
    tm_kept *row = &keep->index.rows[at];
    switch ((tm_verdict)said->verdict) {
    case VERDICT_DONE:
        keep_leave(sw, slot, at, LEFT_ACKED);
        break;
    case VERDICT_AGAIN:
        keep_take_back(sw, slot, row, (uint32_t)said->delay_ms, said->reason, said->reason_size);
        break;
    case VERDICT_EXTEND:
        extend(sw, keep, row->tried);
        break;
    default:
        keep_kill(sw, slot, row, said->reason_size > 0 ? said->reason : rejected,
                  said->reason_size > 0 ? said->reason_size : sizeof rejected - 1);
    }
}

/* Rows of a range that the member has, or had last. */
static void judge_range(tm_switch *sw, uint32_t member, uint64_t first, uint64_t last, const tm_said_ack *said) {
    uint32_t slot = keep_member(sw, member)->keep;
    const tm_index *index = &keep_at(sw, slot)->index;
    for (uint32_t at = tm_index_from(index, first); at < index->fresh && index->rows[at].n <= last; at++) {
        const tm_kept *row = &index->rows[at];
        bool is_its_own = row->state == KEPT_OPEN && row->tried != KEPT_NO_TRY &&
                          sw->keeps->tries.rows[row->tried].holder == member &&
                          !sw->keeps->tries.rows[row->tried].is_dying;
        if (is_its_own) {
            judge(sw, slot, at, said);
        }
    }
}

/* The answer: the same request and ranges. NULL: no memory. */
static uint8_t *compose(tm_switch *sw, const tm_said_ack *said, uint32_t *size) {
    wire_begin(&sw->writer, WIRE_ACK);
    wire_array(&sw->writer, 3);
    wire_unsigned(&sw->writer, WIRE_ACK_OF_DELIVER);
    wire_unsigned(&sw->writer, said->request);
    uint32_t ranges = (uint32_t)(said->ranges.end - said->ranges.at);
    *size = sw->writer.size + ranges;
    uint8_t *frame = TM_NEW(&sw->keeps->memory, TM_COLD, uint8_t, *size);
    if (frame != NULL) {
        memcpy(frame, sw->writer.bytes, sw->writer.size);
        memcpy(frame + sw->writer.size, said->ranges.at, ranges);
        wire_store32(frame, *size);
    }
    return frame;
}

static bool answer_later(tm_switch *sw, uint32_t slot, const tm_wait *wait) {
    tm_keeps *keeps = sw->keeps;
    if (keep_at(sw, slot)->dying == 0) {
        if (tm_waits_reserve(&keeps->waits)) {
            tm_waits_add(&keeps->waits, wait);
            return true;
        }
        return false;
    }
    tm_keep_answer *answer = TM_NEW(&keeps->memory, TM_COLD, tm_keep_answer, 1);
    if (answer != NULL) {
        *answer = (tm_keep_answer){.next = keep_at(sw, slot)->answers, .wait = *wait};
        keep_at(sw, slot)->answers = answer;
    }
    return answer != NULL;
}

/* Who asks and finds no room for the answer is cut off, as nobody who waits would be answered. */
static void promise(tm_switch *sw, uint32_t connection, uint32_t slot, const tm_said_ack *said) {
    tm_keeps *keeps = sw->keeps;
    keep_flush_losses(sw, slot);
    keep_flush_done(sw);
    tm_wait wait = {.n = keeps->last_n,
                    .since_us = tm_clock_ns() / 1000,
                    .origin = switch_at(sw, connection)->admission.number,
                    .number = said->request << 32 | said->subscription,
                    .kind = WAIT_ANSWER,
                    .connection = connection,
                    .count = 1};
    wait.frame = compose(sw, said, &wait.frame_size);
    bool is_written = keeps->done_count == 0 && keeps->losses == 0 && !keeps->is_done_forgotten && !keeps->has_failed;
    if (wait.frame != NULL && is_written && answer_later(sw, slot, &wait)) {
        return;
    }
    TM_DELETE(&keeps->memory, TM_COLD, wait.frame, uint8_t, wait.frame_size);
    keep_refuse_answer(sw, &wait);
}

bool switch_take_ack(tm_switch *sw, uint32_t connection, const uint8_t *frame, uint32_t size) {
    tm_said_ack said;
    if (!tm_said_read_ack(frame + WIRE_PREFIX_BYTES, size - WIRE_PREFIX_BYTES, &said)) {
        return false;
    }
    uint32_t member = keep_member_of(sw, connection, (uint32_t)said.subscription);
    if (member == MEMBER_NONE) {
        return false;
    }
    uint32_t slot = keep_member(sw, member)->keep;
    sw->keeps->is_done_forgotten = false;
    tm_cursor ranges = tm_said_ranges(&said);
    for (uint32_t i = 0; i < said.range_count; i++) {
        uint64_t first;
        uint64_t last;
        tm_said_next(&ranges, &first, &last);
        judge_range(sw, member, first, last, &said);
    }
    keep_make_due(sw, slot); /* there may be room for more */
    if (said.request != 0) {
        promise(sw, connection, slot, &said);
    }
    return true;
}

bool switch_take_credit(tm_switch *sw, uint32_t connection, const uint8_t *frame, uint32_t size) {
    tm_said_credit said;
    if (!tm_said_read_credit(frame + WIRE_PREFIX_BYTES, size - WIRE_PREFIX_BYTES, &said)) {
        return false;
    }
    uint32_t member = keep_member_of(sw, connection, (uint32_t)said.subscription);
    if (member == MEMBER_NONE) {
        return false;
    }
    tm_member *row = keep_member(sw, member);
    row->credit = said.deliveries > row->credit ? said.deliveries : row->credit;
    keep_make_due(sw, row->keep);
    return true;
}
