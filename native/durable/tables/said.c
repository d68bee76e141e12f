/* said.c - bodies of ACK and CREDIT, read in place. */
#include "durable/tables/said.h"

#include "model/wire.h"

#define FIELDS_MAX 64U
#define SKIPPED_DEPTH_MAX 8U

static bool read_number(tm_cursor *cursor, uint64_t most, uint64_t *out) {
    int64_t number;
    if (cursor->end - cursor->at >= 9 && cursor->at[0] == 0xcf && cursor->at[1] >= 0x80) { /* more than 63 bits */
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

static bool read_ranges(tm_cursor *cursor, tm_said_ack *out) {
    out->ranges.at = cursor->at;
    if (!tm_read_array(cursor, &out->range_count) || out->range_count > SAID_RANGES_MAX) {
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

/* Read the optional fields behind `refusals`; `left` is their number. */
static bool read_appended(tm_cursor *cursor, uint32_t left, tm_said_ack *out) {
    bool is_sound = (left < 1 || read_number(cursor, VERDICTS - 1, &out->verdict)) &&
                    (left < 2 || read_number(cursor, UINT32_MAX, &out->subscription)) &&
                    (left < 3 || read_number(cursor, UINT32_MAX, &out->delay_ms)) &&
                    (left < 4 || tm_read_string(cursor, SAID_REASON_BYTES_MAX, &out->reason, &out->reason_size));
    for (; is_sound && left > 4; left--) {
        is_sound = tm_skip(cursor, SKIPPED_DEPTH_MAX);
    }
    return is_sound;
}

bool tm_said_read_ack(const uint8_t *body, size_t size, tm_said_ack *out) {
    tm_cursor cursor = {body, body + size};
    uint64_t of;
    uint32_t fields;
    uint32_t refusals;
    *out = (tm_said_ack){0};
    return tm_read_array(&cursor, &fields) && fields >= 6 && fields <= FIELDS_MAX &&
           read_number(&cursor, UINT8_MAX, &of) && of == WIRE_ACK_OF_DELIVER &&
           read_number(&cursor, UINT32_MAX, &out->request) && read_ranges(&cursor, out) &&
           tm_read_array(&cursor, &refusals) && refusals == 0 && read_appended(&cursor, fields - 4, out) &&
           cursor.at == cursor.end;
}

bool tm_said_read_credit(const uint8_t *body, size_t size, tm_said_credit *out) {
    tm_cursor cursor = {body, body + size};
    uint32_t fields;
    uint64_t bytes;
    *out = (tm_said_credit){0};
    return tm_read_array(&cursor, &fields) && fields == 3 && read_number(&cursor, UINT64_MAX, &out->deliveries) &&
           read_number(&cursor, UINT64_MAX, &bytes) && bytes == 0 &&
           read_number(&cursor, UINT32_MAX, &out->subscription) && cursor.at == cursor.end;
}

tm_cursor tm_said_ranges(const tm_said_ack *said) {
    tm_cursor ranges = said->ranges;
    uint32_t count;
    tm_read_array(&ranges, &count);
    return ranges;
}

void tm_said_next(tm_cursor *ranges, uint64_t *first, uint64_t *last) {
    read_range(ranges, first, last);
}
