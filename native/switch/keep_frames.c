/* keep_frames.c - ACK and CREDIT frames of members.
 *
 * Law: a frame is looked at whole before anything is done. One that is not as the wire page has it, or names no
 * attachment of its connection, goes up, where it is refused or is a fault. What an ACK asks to be told is told when
 * all that it says is on disk.
 */
#include "model/msgpack.h"
#include "switch/keeps.h"

#define ACK_ITEMS_MAX 10000U
#define REASON_BYTES_MAX 1024U
#define FIELDS_MAX 64U
#define SKIPPED_DEPTH_MAX 8U

typedef enum { VERDICT_DONE, VERDICT_AGAIN, VERDICT_EXTEND, VERDICT_REJECT, VERDICTS } verdict;

typedef struct ack {
    uint64_t of;
    uint64_t request;
    uint64_t verdict;
    uint64_t subscription;
    uint64_t delay_ms;
    const uint8_t *reason; /* borrowed from the frame */
    uint32_t reason_size;
    tm_cursor ranges; /* from the head of their list to its end */
    uint32_t range_count;
} ack;

static bool read_number(tm_cursor *cursor, uint64_t most, uint64_t *out) {
    int64_t number;
    if (cursor->end - cursor->at >= 9 && cursor->at[0] == 0xcf && cursor->at[1] >= 0x80) { /* past 63 bits */
        *out = __builtin_bswap64(tm_load64(cursor->at + 1));
        cursor->at += 9;
        return *out <= most;
    }
    if (!tm_read_integer(cursor, &number) || number < 0) {
        return false;
    }
    *out = (uint64_t)number;
    return *out <= most;
}

static bool read_range(tm_cursor *cursor, uint64_t *first, uint64_t *last) {
    uint32_t count;
    return tm_read_array(cursor, &count) && count == 2 && read_number(cursor, UINT64_MAX, first) &&
           read_number(cursor, UINT64_MAX, last) && *first <= *last;
}

static bool read_ranges(tm_cursor *cursor, ack *out) {
    out->ranges.at = cursor->at;
    if (!tm_read_array(cursor, &out->range_count) || out->range_count > ACK_ITEMS_MAX) {
        return false;
    }
    uint64_t below = 0;
    for (uint32_t i = 0; i < out->range_count; i++) {
        uint64_t first;
        uint64_t last;
        if (!read_range(cursor, &first, &last) || (i > 0 && (first <= below || first - below < 2))) {
            return false;
        }
        below = last;
    }
    out->ranges.end = cursor->at;
    return true;
}

/* The fields past `refusals`, as many as there are of `left`. */
static bool read_appended(tm_cursor *cursor, uint32_t left, ack *out) {
    bool is_sound = (left < 1 || read_number(cursor, VERDICTS - 1, &out->verdict)) &&
                    (left < 2 || read_number(cursor, UINT32_MAX, &out->subscription)) &&
                    (left < 3 || read_number(cursor, UINT32_MAX, &out->delay_ms)) &&
                    (left < 4 || tm_read_string(cursor, REASON_BYTES_MAX, &out->reason, &out->reason_size));
    for (; is_sound && left > 4; left--) {
        is_sound = tm_skip(cursor, SKIPPED_DEPTH_MAX);
    }
    return is_sound;
}

static bool read_ack(const uint8_t *frame, uint32_t size, ack *out) {
    tm_cursor cursor = {frame + WIRE_PREFIX_BYTES, frame + size};
    uint32_t fields;
    uint32_t refusals;
    *out = (ack){0};
    return tm_read_array(&cursor, &fields) && fields >= 6 && fields <= FIELDS_MAX &&
           read_number(&cursor, UINT8_MAX, &out->of) && out->of == WIRE_ACK_OF_DELIVER &&
           read_number(&cursor, UINT32_MAX, &out->request) && read_ranges(&cursor, out) &&
           tm_read_array(&cursor, &refusals) && refusals == 0 && read_appended(&cursor, fields - 4, out) &&
           cursor.at == cursor.end;
}

/* ---- what it says ---- */

static void extend(tm_switch *sw, const tm_keep *keep, uint32_t id) {
    tm_tries *tries = &sw->keeps->tries;
    if (tries->rows[id].state == TRY_OUT) {
        tm_heap_take(tries, &tries->due, id);
        tm_heap_put(tries, &tries->due, id, sw->now_ms + keep->terms->ack_wait_ms);
    }
}

static void judge(tm_switch *sw, uint32_t slot, uint32_t at, const ack *said) {
    static const uint8_t rejected[] = "rejected";
    tm_keep *keep = keep_at(sw, slot);
    tm_kept *row = &keep->index.rows[at];
    switch ((verdict)said->verdict) {
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
static void judge_range(tm_switch *sw, uint32_t member, uint64_t first, uint64_t last, const ack *said) {
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
static uint8_t *compose(tm_switch *sw, const ack *said, uint32_t *size) {
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
static void promise(tm_switch *sw, uint32_t connection, uint32_t slot, const ack *said) {
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
    ack said;
    if (!read_ack(frame, size, &said)) {
        return false;
    }
    uint32_t member = keep_member_of(sw, connection, (uint32_t)said.subscription);
    if (member == MEMBER_NONE) {
        return false;
    }
    uint32_t slot = keep_member(sw, member)->keep;
    sw->keeps->is_done_forgotten = false;
    tm_cursor cursor = said.ranges;
    uint32_t count;
    tm_read_array(&cursor, &count);
    for (; count > 0; count--) {
        uint64_t first;
        uint64_t last;
        read_range(&cursor, &first, &last);
        judge_range(sw, member, first, last, &said);
    }
    keep_make_due(sw, slot); /* there may be room for more */
    if (said.request != 0) {
        promise(sw, connection, slot, &said);
    }
    return true;
}

bool switch_take_credit(tm_switch *sw, uint32_t connection, const uint8_t *frame, uint32_t size) {
    tm_cursor cursor = {frame + WIRE_PREFIX_BYTES, frame + size};
    uint32_t fields;
    uint64_t frames;
    uint64_t bytes;
    uint64_t id;
    if (!tm_read_array(&cursor, &fields) || fields != 3 || !read_number(&cursor, UINT64_MAX, &frames) ||
        !read_number(&cursor, UINT64_MAX, &bytes) || bytes != 0 || !read_number(&cursor, UINT32_MAX, &id) ||
        cursor.at != cursor.end) {
        return false;
    }
    uint32_t member = keep_member_of(sw, connection, (uint32_t)id);
    if (member == MEMBER_NONE) {
        return false;
    }
    tm_member *row = keep_member(sw, member);
    row->credit = frames > row->credit ? frames : row->credit;
    keep_make_due(sw, row->keep);
    return true;
}
