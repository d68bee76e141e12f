/* fuzz_greeting.c - libFuzzer target: any bytes, in any pieces, of a client that greets; AUTH is the last it needs.
 *
 * Law: until the client is admitted, what goes up is what a plain reading of the same bytes says, whatever the pieces:
 * its frames, then one fault. No more than the bytes of a greeting go up, no data frame does, and what comes behind an
 * admission leaves the switch valid. The first byte is the size of the pieces (0: all at once), the second one says
 * whether the first AUTH is taken.
 */
#include <stdlib.h>
#include <string.h>

#include "model/wire.h"

#define AUTH 0x12U
#define FRAME_BYTES_MAX 65536U
#define GREETING_BYTES_MAX 8192U

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check(bool holds) {
    if (!holds) {
        abort();
    }
}

/* ---- the plain reading ---- */

typedef struct plain {
    const uint8_t *at;
    size_t left;
    uint32_t greeting_left;
    uint32_t fault; /* its number; 0: none yet */
} plain;

static bool is_within(uint8_t kind, uint8_t first, uint8_t last) {
    return kind >= first && kind <= last;
}

static bool is_known(uint8_t kind) {
    return is_within(kind, 0x01, 0x03) || is_within(kind, 0x10, 0x17) || is_within(kind, 0x20, 0x2a) ||
           is_within(kind, 0x2d, 0x31) || is_within(kind, 0x40, 0x44) || is_within(kind, 0x80, 0x81) ||
           is_within(kind, 0x90, 0x91) || is_within(kind, 0xc5, 0xc7) || kind == 0xc9;
}

static uint32_t fault_of_beginning(const plain *of, uint32_t length) {
    if (length < 8) {
        return WIRE_TOO_SHORT;
    }
    if (length > FRAME_BYTES_MAX) {
        return WIRE_TOO_LONG;
    }
    if (length > of->greeting_left) {
        return WIRE_UNAUTHENTICATED;
    }
    return of->left > 4 && of->at[4] < 0x80 && !is_known(of->at[4]) ? WIRE_UNKNOWN_KIND : 0;
}

/* Return the size of the next frame that goes up, at `*frame`; 0: there is none, and `fault` may be set. */
static uint32_t next_frame(plain *of, const uint8_t **frame) {
    while (of->left >= 4 && of->fault == 0) {
        const uint8_t *at = of->at;
        uint32_t length = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
        of->fault = fault_of_beginning(of, length);
        if (of->fault != 0 || length > of->left) {
            return 0;
        }
        of->at += length;
        of->left -= length;
        of->greeting_left -= length;
        if (!is_known(at[4])) {
            continue;
        }
        if (at[7] != 0 || (at[4] >= 0x10 && (at[5] != 0 || at[6] != 0))) {
            of->fault = WIRE_RESERVED_SET;
        } else if (at[4] < 0x10) {
            of->fault = WIRE_UNEXPECTED_KIND;
        } else {
            *frame = at;
            return length;
        }
    }
    return 0;
}

/* ---- what the switch says ---- */

/* Compare an event with the plain reading; true if it is the AUTH of a client that is to be admitted. */
static bool judge(plain *of, const tm_event *event, bool takes_auth) {
    const uint8_t *frame = NULL;
    uint32_t length = next_frame(of, &frame);
    if (event->type == TM_EVENT_FAULT) {
        check(length == 0 && of->fault != 0 && event->code == of->fault);
        return false;
    }
    check(event->type == TM_EVENT_FRAME && event->size == length && memcmp(event->frame, frame, length) == 0);
    return takes_auth && event->kind == AUTH;
}

static void validate(tm_switch *sw, tm_table *table, uint32_t client) {
    const char *reason;
    tm_connection_stats stats;
    check(tm_switch_validate(sw, &reason) == TM_OK && tm_table_validate(table, &reason) == TM_OK);
    check(tm_switch_connection(sw, client, &stats) != TM_OK || stats.subscriptions == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size < 2) {
        return 0;
    }
    static const tm_admission admission = {.number = 7,
                                           .queue_bytes_max = 1 << 16,
                                           .credit_bytes = 1 << 12,
                                           .credit_frames = 10,
                                           .frame_bytes_max = FRAME_BYTES_MAX,
                                           .table_bytes_max = UINT64_MAX,
                                           .filters_max = 10};
    tm_options table_options = {0};
    tm_switch_options options = {.number = 1,
                                 .epoch = 1,
                                 .connections_max = 2,
                                 .frame_bytes_max = FRAME_BYTES_MAX,
                                 .greeting_bytes_max = GREETING_BYTES_MAX,
                                 .publishers_max = 2,
                                 .hop_limit = 3};
    tm_table *table;
    tm_switch *sw;
    uint32_t client;
    check(tm_table_new(TM_ENGINE_DEFAULT, &table_options, &table) == TM_OK);
    check(tm_switch_new(&options, table, &sw) == TM_OK && tm_switch_open(sw, -1, &client) == TM_OK);
    size_t piece = bytes[0] == 0 ? size : bytes[0];
    plain reading = {.at = bytes + 2, .left = size - 2, .greeting_left = GREETING_BYTES_MAX};
    bool is_admitted = false;
    for (size_t at = 2; at < size; at += piece) {
        const tm_event *events;
        size_t count;
        bool admits = false;
        size_t fed = piece < size - at ? piece : size - at;
        check(tm_switch_feed(sw, client, bytes + at, fed, &events, &count) == TM_OK);
        for (size_t i = 0; i < count && !is_admitted; i++) {
            bool is_judged = events[i].type == TM_EVENT_FRAME || events[i].type == TM_EVENT_FAULT;
            admits |= is_judged && judge(&reading, &events[i], bytes[1] & 1);
        }
        is_admitted |= admits && reading.fault == 0 && tm_switch_admit(sw, client, &admission) == TM_OK;
    }
    const uint8_t *frame;
    check(is_admitted || next_frame(&reading, &frame) == 0);
    validate(sw, table, client);
    tm_switch_free(sw);
    tm_table_free(table);
    return 0;
}
