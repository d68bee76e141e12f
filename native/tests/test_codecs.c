/* test_codecs.c - the codecs of gateways on random messages, on mutated ones, and under failing allocations.
 *
 * Law: a message that is written as JSON and read again is written the same; what is not sound is refused, and no byte
 * behind an input is read, however it is cut. An allocation that fails takes no line and no name, and the next try
 * does. Whether texts and frames are right is for tests/native/codecs.
 */
#include <string.h>

#include "base/utf8.h"
#include "model/wire.h"
#include "support.h"
#include "tm_relay.h"

#define ROUNDS 3000U
#define ROOM ((size_t)1 << 20)
#define FAILURES_MAX 40U
#define NAMED 50U

static const tm_json_rules RULES = {(const uint8_t *)"type", 4, TM_FRAME_BYTES_MAX, 0, 0};
static const tm_json_numbering NUMBERING = {7, 8, 9};
static wire message;
static wire frame;
static uint8_t text[ROOM];
static uint8_t again[ROOM];
static uint8_t out[ROOM];

static tm_events *new_events(uint32_t form, uint32_t joined) {
    tm_events *events = NULL;
    tm_events_options options = {form, TM_EVENTS_TIME | TM_EVENTS_MATCHED, joined};
    options.fields = form == TM_EVENTS_NDJSON ? 0 : options.fields;
    CHECK(tm_events_new(&options, &events) == TM_OK, "new");
    return events;
}

/* A DELIVER of random attributes and a payload of a few bytes. */
static void put_frame(dice *d) {
    static const uint8_t SATISFIED[] = {WIRE_SATISFIED, 0, 4, 0, 3, 0, 0, 0};
    uint32_t payload = below(d, 40);
    bool is_text = below(d, 2) == 0;
    random_message(d, &message);
    memset(frame.bytes, 0, WIRE_HEADER_BYTES);
    frame.bytes[WIRE_KIND] = WIRE_DELIVER;
    wire_store64(frame.bytes + WIRE_ORIGIN, 1 + roll(d) % 1000);
    wire_store64(frame.bytes + WIRE_COUNTER, 1 + roll(d) % 1000);
    wire_store64(frame.bytes + WIRE_PUBLISHED, roll(d));
    wire_store16(frame.bytes + WIRE_EXTENSION_SIZE, sizeof SATISFIED);
    wire_store32(frame.bytes + WIRE_ATTRIBUTE_SIZE, (uint32_t)message.size);
    memcpy(frame.bytes + WIRE_HEADER_BYTES, SATISFIED, sizeof SATISFIED);
    memcpy(frame.bytes + WIRE_HEADER_BYTES + sizeof SATISFIED, message.bytes, message.size);
    frame.size = WIRE_HEADER_BYTES + sizeof SATISFIED + message.size;
    for (uint32_t i = 0; i < payload; i++) {
        frame.bytes[frame.size++] = (uint8_t)(is_text ? below(d, 0x80) : roll(d));
    }
    wire_store32(frame.bytes, (uint32_t)frame.size);
}

static int write_events(const tm_events *events, uint8_t *to, size_t room, tm_events_said *said) {
    guarded copy = guard(frame.bytes, frame.size);
    int result = tm_events_write(events, copy.bytes, frame.size, to, room, said);
    unguard(&copy);
    CHECK(said->written <= room, "too much");
    return result;
}

static int read_json(size_t size, tm_json_made *made) {
    tm_json_refusal refusal;
    guarded copy = guard(text, size);
    int result = tm_json_publish(&RULES, &NUMBERING, copy.bytes, size, out, ROOM, made, &refusal);
    unguard(&copy);
    CHECK(result == TM_OK || (result == TM_MALFORMED && refusal.position <= size && refusal.code != 0), "%d", result);
    return result;
}

/* DELIVER, line, PUBLISH, line. */
static size_t check_round(const tm_events *lines) {
    tm_events_said said;
    tm_json_made made;
    CHECK(write_events(lines, text, ROOM, &said) == TM_OK && said.messages == 1, "write");
    size_t size = said.written;
    CHECK(tm_utf8_valid(text, size) && read_json(size, &made) == TM_OK, "read");
    out[WIRE_KIND] = WIRE_DELIVER;
    CHECK(tm_events_write(lines, out, made.size, again, ROOM, &said) == TM_OK && said.messages == 1, "write again");
    CHECK(said.written == size && memcmp(text, again, size) == 0, "another line");
    return size;
}

/* Rooms of all sizes: a whole message, or none. */
static void check_rooms(const tm_events *events, dice *d) {
    tm_events_said said;
    CHECK(write_events(events, text, ROOM, &said) == TM_OK, "write");
    size_t size = said.written;
    size_t room = below(d, (uint32_t)size + 200);
    uint8_t *exact = malloc(room + 1);
    CHECK(write_events(events, exact, room, &said) == TM_OK, "write");
    CHECK(said.messages == 1 ? said.written == size : said.written == 0 && said.stopped == TM_EVENTS_ROOM, "room");
    CHECK(said.messages == 1 || said.needed >= size, "needed");
    CHECK(room < said.needed || said.messages == 1, "what it needs was there");
    CHECK(memcmp(exact, text, said.written) == 0, "another text");
    free(exact);
}

static void mutate(dice *d, uint8_t *bytes, size_t size) {
    static const uint8_t TELLING[] = "\"\\{}[]:,0e-.u\x00\x80\xff\xc0\xe2";
    for (uint32_t left = 1 + below(d, 2); left > 0; left--) {
        uint8_t byte = below(d, 2) == 0 ? (uint8_t)roll(d) : TELLING[below(d, sizeof TELLING - 1)];
        bytes[below(d, (uint32_t)size)] = byte;
    }
}

/* ---- streams ---- */

/* Feed the line that is in `text` three times, cut anywhere, where the n-th allocation fails once. */
static bool feed(size_t size, dice *d, uint64_t n) {
    tm_json_lines *lines = NULL;
    tm_json_numbering numbering = NUMBERING;
    tm_json_refusal refusal;
    uint32_t frames = 0;
    bool has_failed = false;
    CHECK(tm_json_lines_new(&RULES, &lines) == TM_OK, "new");
    tm_json_lines_fail(lines, n);
    for (size_t total = 3 * size, at = 0; at < total;) {
        uint32_t piece = 1 + below(d, (uint32_t)size);
        size_t left = total - at < piece ? total - at : piece;
        tm_json_lines_credit credit = {UINT64_MAX, UINT64_MAX};
        tm_json_lines_said said;
        for (size_t i = 0; i < left; i++) {
            again[i] = text[(at + i) % size];
        }
        guarded copy = guard(again, left);
        int result = tm_json_lines_feed(lines, &numbering, &credit, copy.bytes, left, at + left == total, out, ROOM,
                                        &refusal, 1, &said);
        unguard(&copy);
        CHECK(result == TM_OK || (result == TM_NO_MEMORY && !has_failed), "result %d", result);
        CHECK(said.refused == 0, "code %u", refusal.code);
        has_failed |= result != TM_OK;
        frames += said.frames;
        at += said.consumed;
    }
    CHECK(frames == 3 && numbering.counter == NUMBERING.counter + 3, "%u frames", frames);
    tm_json_lines_free(lines);
    return has_failed;
}

/* ---- names ---- */

static uint32_t name_all(void) {
    uint32_t failed = 0;
    for (uint64_t n = 1; n <= FAILURES_MAX; n++) {
        tm_events *events = new_events(TM_EVENTS_SOCKET, 0);
        uint64_t bytes = tm_events_bytes(events);
        tm_events_fail(events, n);
        for (uint32_t i = 0; i < NAMED; i++) {
            uint32_t id = i * 7 % NAMED;
            uint64_t before = tm_events_bytes(events);
            int result = tm_events_name(events, id, (const uint8_t *)"<name>", 6);
            failed += result == TM_NO_MEMORY;
            if (result == TM_NO_MEMORY) {
                CHECK(tm_events_bytes(events) - before < 1024, "a name is left behind");
                result = tm_events_name(events, id, (const uint8_t *)"<name>", 6);
            }
            CHECK(result == TM_OK, "result %d", result);
        }
        for (uint32_t id = 0; id < NAMED; id++) {
            CHECK(tm_events_name(events, id, NULL, 0) == TM_OK, "take away");
        }
        CHECK(tm_events_bytes(events) - bytes < 4096, "names are left behind");
        tm_events_free(events);
    }
    return failed;
}

int main(void) {
    dice d = {42};
    tm_events *all[] = {new_events(TM_EVENTS_NDJSON, 0), new_events(TM_EVENTS_SSE, 0), new_events(TM_EVENTS_SOCKET, 0)};
    uint32_t refused_texts = 0;
    uint32_t refused_frames = 0;
    uint32_t failures = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        tm_events_said said;
        tm_json_made made;
        put_frame(&d);
        size_t size = check_round(all[0]);
        check_rooms(all[round % 3], &d);
        size = round % 3 == 0 ? size : check_round(all[0]);
        failures += feed(size, &d, round % 4);
        mutate(&d, text, size);
        refused_texts += read_json(size, &made) != TM_OK;
        mutate(&d, frame.bytes + WIRE_PREFIX_BYTES, frame.size - WIRE_PREFIX_BYTES);
        refused_frames += write_events(all[1], text, ROOM, &said) != TM_OK;
        CHECK(tm_utf8_valid(text, said.written), "not UTF-8");
    }
    for (size_t i = 0; i < 3; i++) {
        tm_events_free(all[i]);
    }
    uint32_t unnamed = name_all();
    bool is_enough = refused_texts > ROUNDS / 4 && refused_frames > ROUNDS / 10 && failures > ROUNDS / 10;
    CHECK(is_enough && unnamed >= FAILURES_MAX / 2, "too few cases: %u, %u, %u, %u", refused_texts, refused_frames,
          failures, unnamed);
    printf("%u texts and %u frames refused, %u streams and %u names without memory\n", refused_texts, refused_frames,
           failures, unnamed);
    return 0;
}
