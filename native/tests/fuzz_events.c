/* fuzz_events.c - libFuzzer target: any bytes as deliveries: [form] [fields] [joined, 2 bytes] [room, 2 bytes] frames.
 *
 * Law: whatever arrives, whole messages are written within the room, as valid UTF-8, and what they need when there is
 * too little is enough. A line read as a message and written again is the same line. No text holds a raw newline, or
 * ends a script.
 */
#include <string.h>

#include "base/utf8.h"
#include "model/wire.h"
#include "support.h"
#include "tm_relay.h"

#define HEAD_BYTES 6U

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static uint8_t *copy_of(const uint8_t *bytes, size_t size) {
    uint8_t *copy = malloc(size + (size == 0));
    CHECK(copy != NULL, "out of memory");
    memcpy(copy, bytes, size);
    return copy;
}

static tm_events *new_events(uint32_t form, uint32_t fields, uint32_t joined) {
    tm_events *events = NULL;
    tm_events_options options = {form, fields, joined};
    CHECK(tm_events_new(&options, &events) == TM_OK, "new");
    CHECK(tm_events_name(events, 1, (const uint8_t *)"one", 3) == TM_OK, "name");
    return events;
}

/* Check the frames of a WebSocket: each has its length in the shortest form, and is text. */
static void check_socket(const uint8_t *at, size_t left) {
    while (left > 0) {
        CHECK(left >= 2 && at[0] == 0x81, "no frame");
        size_t head = at[1] < 126 ? 2 : at[1] == 126 ? 4 : 10;
        CHECK(left >= head, "a head is cut");
        size_t size = at[1];
        if (head == 4) {
            size = (size_t)at[2] << 8 | at[3];
            CHECK(size >= 126, "a long head");
        } else if (head == 10) {
            size = __builtin_bswap64(tm_load64(at + 2));
            CHECK(size > UINT16_MAX, "a long head");
        }
        CHECK(size <= left - head && tm_utf8_valid(at + head, size), "no text");
        at += head + size;
        left -= head + size;
    }
}

static void check_text(const uint8_t *text, size_t size, uint32_t form, uint32_t messages) {
    uint32_t newlines = 0;
    for (size_t i = 0; i < size; i++) {
        newlines += text[i] == '\n';
        CHECK(text[i] != '<' || i + 1 == size || (text[i + 1] != '/' && text[i + 1] != '!'), "a script may end");
    }
    if (form == TM_EVENTS_SOCKET) {
        check_socket(text, size);
        return;
    }
    CHECK(newlines == messages * (form == TM_EVENTS_SSE ? 3 : 1), "%u newlines", newlines);
    CHECK(tm_utf8_valid(text, size), "not UTF-8");
}

/* Write the first frame as a line, read it as a message, and write that. */
static void try_again(const uint8_t *frame, size_t size) {
    static const tm_json_numbering NUMBERING = {7, 8, 9};
    tm_events *events = new_events(TM_EVENTS_NDJSON, 0, 0);
    tm_json_rules rules = {(const uint8_t *)"type", 4, TM_FRAME_BYTES_MAX, 0, 0};
    tm_json_made made;
    tm_json_refusal refusal;
    tm_events_said said;
    size_t room = 6 * size + 8192;
    uint8_t *text = malloc(room);
    uint8_t *again = malloc(room);
    uint8_t *out = malloc(room + TM_JSON_SLACK);
    CHECK(tm_events_write(events, frame, size, text, room, &said) == TM_OK && said.messages == 1, "one");
    size_t written = said.written;
    CHECK(tm_json_publish(&rules, &NUMBERING, text, written, out, room + TM_JSON_SLACK, &made, &refusal) == TM_OK,
          "code %u at %u", refusal.code, refusal.position);
    out[WIRE_KIND] = WIRE_DELIVER;
    CHECK(tm_events_write(events, out, made.size, again, room, &said) == TM_OK && said.messages == 1, "again");
    CHECK(said.written == written && memcmp(text, again, written) == 0, "another line");
    free(text);
    free(again);
    free(out);
    tm_events_free(events);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size < HEAD_BYTES || size > 65536) {
        return 0;
    }
    uint32_t form = bytes[0] % 3U;
    tm_events *events = new_events(form, bytes[1] % 64U, (uint32_t)bytes[2] << 8 | bytes[3]);
    size_t room = (size_t)bytes[4] << 8 | bytes[5];
    size_t left = size - HEAD_BYTES;
    uint8_t *in = copy_of(bytes + HEAD_BYTES, left);
    size_t at = 0;
    int result = TM_OK;
    tm_events_said said;
    do {
        uint8_t *out = malloc(room + 1);
        uint8_t *rest = copy_of(in + at, left - at);
        result = tm_events_write(events, rest, left - at, out, room, &said);
        CHECK(result == TM_OK || result == TM_MALFORMED, "result %d", result);
        CHECK(said.written <= room && said.consumed <= left - at, "too much");
        check_text(out, said.written, form, said.messages);
        if (said.messages > 0) {
            try_again(rest, tm_load32(rest));
        }
        CHECK(said.messages > 0 || said.needed <= TM_EVENTS_ONE_BYTES_MAX, "needs %zu", (size_t)said.needed);
        at += said.consumed;
        bool is_stuck = said.stopped == TM_EVENTS_ROOM && said.messages == 0;
        CHECK(!is_stuck || said.needed > room, "what it needs is there");
        room = is_stuck ? said.needed : room;
        free(out);
        free(rest);
    } while (result == TM_OK && said.stopped == TM_EVENTS_ROOM);
    free(in);
    tm_events_free(events);
    return 0;
}
