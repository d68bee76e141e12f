/* fuzz_json.c - libFuzzer target: any bytes as a message in JSON and as a stream of them: [is_socket] [piece] text.
 *
 * Law: a frame has sound attributes, and written as JSON and read again it is the same. A stream that comes in pieces,
 * with little credit and room, gives what it gives at once. Nothing is read or written outside of the bytes given.
 */
#include <string.h>

#include "base/utf8.h"
#include "model/wire.h"
#include "support.h"
#include "tm_relay.h"

#define REFUSALS 4U

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const tm_json_numbering NUMBERING = {7, 8, 9};

typedef struct whole {
    uint8_t *bytes; /* owned */
    size_t size;
    uint64_t refusals; /* a digest of them */
} whole;

static uint8_t *copy_of(const uint8_t *bytes, size_t size) {
    uint8_t *copy = malloc(size + (size == 0));
    CHECK(copy != NULL, "out of memory");
    memcpy(copy, bytes, size);
    return copy;
}

static tm_json_rules rules_of(uint8_t is_socket) {
    static const uint8_t NAMING[] = "type";
    return (tm_json_rules){NAMING, sizeof NAMING - 1, TM_FRAME_BYTES_MAX - 8, 0, is_socket & 1};
}

/* Write a frame as a line and read it again. */
static void try_again(const uint8_t *frame, size_t size, tm_events *events) {
    uint8_t *delivered = copy_of(frame, size);
    size_t room = 6 * size + 8192;
    uint8_t *text = malloc(room);
    uint8_t *again = malloc(room + TM_JSON_SLACK);
    tm_events_said said;
    tm_json_made made;
    tm_json_refusal refusal;
    tm_json_rules rules = rules_of(0);
    delivered[WIRE_KIND] = WIRE_DELIVER;
    delivered[WIRE_FLAGS] = 0;
    CHECK(tm_events_write(events, delivered, size, text, room, &said) == TM_OK && said.messages == 1, "not written");
    CHECK(tm_utf8_valid(text, said.written), "not UTF-8");
    CHECK(memchr(text, '\n', said.written) == text + said.written - 1, "no line");
    if (said.written <= TM_JSON_LINE_BYTES_MAX) {
        CHECK(tm_json_publish(&rules, &NUMBERING, text, said.written, again, room + TM_JSON_SLACK, &made, &refusal) ==
                  TM_OK,
              "code %u at %u", refusal.code, refusal.position);
        size_t behind = WIRE_HEADER_BYTES + tm_load16(frame + WIRE_EXTENSION_SIZE);
        CHECK(made.size - WIRE_HEADER_BYTES == size - behind, "another size");
        CHECK(memcmp(again + WIRE_HEADER_BYTES, frame + behind, size - behind) == 0, "another message");
    }
    free(delivered);
    free(text);
    free(again);
}

static void try_message(const uint8_t *text, size_t size, uint8_t is_socket, tm_events *events) {
    tm_json_rules rules = rules_of(is_socket);
    uint8_t *copy = copy_of(text, size);
    uint8_t *out = malloc(size + TM_JSON_SLACK);
    tm_json_made made;
    tm_json_refusal refusal;
    static tm_attribute attributes[TM_ATTRIBUTES_MAX];
    size_t count = 0;
    size_t used = 0;
    int result = tm_json_publish(&rules, &NUMBERING, copy, size, out, size + TM_JSON_SLACK, &made, &refusal);
    free(copy);
    if (result == TM_OK) {
        const uint8_t *at = out + WIRE_HEADER_BYTES + tm_load16(out + WIRE_EXTENSION_SIZE);
        size_t attribute_size = tm_load32(out + WIRE_ATTRIBUTE_SIZE);
        CHECK(tm_load32(out) == made.size && made.size <= size + TM_JSON_SLACK, "size");
        CHECK(tm_attributes_decode(at, attribute_size, attributes, &count, &used) == TM_OK, "attributes");
        CHECK(used == attribute_size, "attributes end elsewhere");
        try_again(out, made.size, events);
    } else {
        CHECK(result == TM_MALFORMED && refusal.code > 0 && refusal.position <= size, "result %d", result);
    }
    free(out);
}

static uint64_t mixed(uint64_t digest, const tm_json_refusal *refusal) {
    return (digest ^ refusal->line ^ (uint64_t)refusal->position << 20 ^ (uint64_t)refusal->code << 50) *
           UINT64_C(0xd6e8feb86659fd93);
}

/* Read the stream in pieces of `piece` bytes, each a block of its own. */
static whole read_stream(const uint8_t *text, size_t size, size_t piece, uint64_t frames, size_t room) {
    tm_json_rules rules = rules_of(0);
    tm_json_lines *lines = NULL;
    tm_json_numbering numbering = NUMBERING;
    tm_json_refusal refusals[REFUSALS];
    whole found = {malloc(2 * size + TM_JSON_SLACK * (size + 2)), 0, 1};
    uint8_t *out = malloc(room);
    CHECK(tm_json_lines_new(&rules, &lines) == TM_OK, "new");
    for (size_t at = 0; at <= size; at += piece) {
        size_t left = size - at < piece ? size - at : piece;
        bool is_last = at + piece > size;
        uint8_t *copy = copy_of(text + at, left);
        tm_json_lines_said said;
        size_t done = 0;
        do {
            tm_json_lines_credit credit = {frames, TM_FRAME_BYTES_MAX};
            CHECK(tm_json_lines_feed(lines, &numbering, &credit, copy + done, left - done, is_last, out, room, refusals,
                                     REFUSALS, &said) == TM_OK,
                  "feed");
            CHECK(said.written <= room && said.consumed <= left - done, "too much");
            CHECK(said.stopped != TM_JSON_LINES_ROOM || said.frames > 0, "no room for a line");
            memcpy(found.bytes + found.size, out, said.written);
            found.size += said.written;
            done += said.consumed;
            for (uint32_t i = 0; i < said.refused; i++) {
                found.refusals = mixed(found.refusals, &refusals[i]);
            }
        } while (said.stopped != TM_JSON_LINES_ALL);
        CHECK(done == left, "%zu of %zu", done, left);
        free(copy);
    }
    tm_json_lines_free(lines);
    free(out);
    return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    tm_events *events = NULL;
    tm_events_options options = {TM_EVENTS_NDJSON, 0, 0};
    if (size < 2 || size > 8192) {
        return 0;
    }
    CHECK(tm_events_new(&options, &events) == TM_OK, "new");
    const uint8_t *text = bytes + 2;
    size_t left = size - 2;
    try_message(text, left, bytes[0], events);
    size_t room = left + TM_JSON_SLACK;
    whole once = read_stream(text, left, left + 1, UINT64_MAX, 2 * room);
    whole pieces = read_stream(text, left, 1 + bytes[1] % 64U, 1 + bytes[1] / 64U, room);
    CHECK(once.size == pieces.size && memcmp(once.bytes, pieces.bytes, once.size) == 0, "other frames in pieces");
    CHECK(once.refusals == pieces.refusals, "other refusals in pieces");
    free(once.bytes);
    free(pieces.bytes);
    tm_events_free(events);
    return 0;
}
