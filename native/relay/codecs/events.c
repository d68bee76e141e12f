/* events.c - deliveries as events of a stream, as lines, as frames of a WebSocket. Law: see tm_relay_api.h. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "model/msgpack.h"
#include "model/wire.h"
#include "relay/codecs/delivery.h"
#include "relay/codecs/names.h"
#include "relay/codecs/text.h"
#include "relay/codecs/titles.h"
#include "tm_relay.h"

#define SAFE_INTEGER (INT64_C(1) << 53) /* up to it a float tells all integers apart */
#define ESCAPE_BYTES_MAX 6U
#define PAIR_BYTES 64U      /* of a pair besides its strings */
#define MESSAGE_BYTES 1024U /* of a message besides its attributes, payload and ids */

/* The head of a frame of a WebSocket's server: one, three or nine bytes behind the first. */
#define SOCKET_TEXT 0x81U
#define SOCKET_HEAD 4U
#define SOCKET_SHORT 125U
#define SOCKET_MIDDLE 65535U
#define SOCKET_HEAD_LONG 10U

struct tm_events {
    tm_memory memory;
    tm_events_options options;
    titles titles;
};

int tm_events_new(const tm_events_options *options, tm_events **made) {
    if (options == NULL || made == NULL || options->form > TM_EVENTS_SOCKET ||
        options->joined_bytes_max > SOCKET_MIDDLE) {
        return TM_MISUSED;
    }
    tm_memory memory = {.key = tm_hash_key_of(1)};
    tm_events *events = TM_NEW(&memory, TM_COLD, tm_events, 1);
    if (events == NULL) {
        return TM_NO_MEMORY;
    }
    events->memory = memory;
    events->options = *options;
    *made = events;
    return TM_OK;
}

void tm_events_free(tm_events *events) {
    if (events == NULL) {
        return;
    }
    tm_memory memory = events->memory;
    titles_free(&events->titles, &memory);
    TM_DELETE(&memory, TM_COLD, events, tm_events, 1);
}

uint64_t tm_events_bytes(const tm_events *events) {
    return events->memory.bytes;
}

void tm_events_fail(tm_events *events, uint64_t fail_in) {
    events->memory.fail_in = fail_in;
}

int tm_events_name(tm_events *events, uint32_t id, const uint8_t *name, size_t size) {
    return titles_set(&events->titles, &events->memory, id, name, size);
}

/* ---- a message ---- */

static void put_integer(text *t, int64_t integer, uint32_t fields) {
    bool is_text = (fields & TM_EVENTS_INTEGERS) != 0 && (integer > SAFE_INTEGER || integer < -SAFE_INTEGER);
    if (!is_text) {
        text_integer(t, integer);
        return;
    }
    TEXT_PUT(t, "{\"integer\":\"");
    text_integer(t, integer);
    TEXT_PUT(t, "\"}");
}

/* Write the float behind the tag; false: it is cut, or not finite. */
static bool put_real(text *t, tm_cursor *cursor) {
    bool is_single = *cursor->at == 0xca;
    size_t size = is_single ? 4 : 8;
    double real;
    if ((size_t)(cursor->end - cursor->at) < 1 + size) {
        return false;
    }
    if (is_single) {
        uint32_t bits = __builtin_bswap32(tm_load32(cursor->at + 1));
        float single;
        memcpy(&single, &bits, sizeof single);
        real = (double)single;
    } else {
        uint64_t bits = tm_load_big_endian(cursor->at + 1);
        memcpy(&real, &bits, sizeof real);
    }
    cursor->at += 1 + size;
    if (!isfinite(real)) {
        return false;
    }
    text_real(t, real);
    return true;
}

/* Take the head of a string; its content is not looked at. */
static inline bool take_head(tm_cursor *cursor, uint32_t *size) {
    size_t left = (size_t)(cursor->end - cursor->at);
    uint8_t tag = left > 0 ? *cursor->at : 0;
    unsigned head = tag < 0xc0 ? 1 : 1 + (1U << ((tag - 0xd9) & 3));
    if ((tag & 0xe0) == 0xa0) {
        *size = tag & 0x1f;
    } else if (tag < 0xd9 || tag > 0xdb || left < head) {
        return false;
    } else {
        *size = head == 2   ? cursor->at[1]
                : head == 3 ? (uint32_t)cursor->at[1] << 8 | cursor->at[2]
                            : __builtin_bswap32(tm_load32(cursor->at + 1));
    }
    cursor->at += head;
    return *size <= left - head;
}

static bool put_value(text *t, tm_cursor *cursor, const uint8_t *limit, uint32_t fields) {
    uint8_t tag = cursor->at < cursor->end ? *cursor->at : 0xc1;
    uint32_t size;
    tm_value value;
    if (tag <= 0x7f || tag >= 0xe0) {
        text_integer(t, (int8_t)tag);
        cursor->at++;
        return true;
    }
    if ((tag & 0xe0) == 0xa0 || (tag >= 0xd9 && tag <= 0xdb)) {
        if (!take_head(cursor, &size) || size > TM_STRING_BYTES_MAX) {
            return false;
        }
        cursor->at += size;
        return text_string(t, cursor->at - size, size, limit);
    }
    if (tag == 0xca || tag == 0xcb) {
        return put_real(t, cursor);
    }
    if (!tm_read_value(cursor, 0, &value)) {
        return false;
    }
    if (value.kind == TM_KIND_INTEGER) {
        put_integer(t, value.integer, fields);
    } else if (value.integer != 0) {
        TEXT_PUT(t, "true");
    } else {
        TEXT_PUT(t, "false");
    }
    return true;
}

/* Write the attributes as an object; false: they are not sound. */
static bool put_attributes(text *t, const delivery *d, const uint8_t *limit, uint32_t fields) {
    tm_cursor cursor = {d->attributes, d->payload};
    uint32_t pairs;
    names all;
    if (!tm_read_map(&cursor, &pairs) || pairs > TM_ATTRIBUTES_MAX) {
        return false;
    }
    names_begin(&all);
    TEXT_PUT(t, "\"attributes\":{");
    for (uint32_t i = 0; i < pairs && !t->is_full; i++) {
        uint32_t size;
        if (!take_head(&cursor, &size) || size == 0 || size > TM_NAME_BYTES_MAX || !names_add(&all, cursor.at, size)) {
            return false;
        }
        if (i > 0) {
            text_byte(t, ',');
        }
        cursor.at += size;
        if (!text_string(t, cursor.at - size, size, limit)) {
            return false;
        }
        text_byte(t, ':');
        if (!put_value(t, &cursor, limit, fields)) {
            return false;
        }
    }
    text_byte(t, '}');
    return t->is_full || cursor.at == cursor.end;
}

static void put_payload(text *t, const delivery *d, const uint8_t *limit) {
    size_t size = (size_t)(d->frame + d->size - d->payload);
    if (tm_utf8_valid(d->payload, size)) {
        TEXT_PUT(t, ",\"payload\":");
        text_string(t, d->payload, size, limit);
    } else {
        TEXT_PUT(t, ",\"payload_base64\":");
        text_base64(t, d->payload, size);
    }
}

static void put_id(text *t, const delivery *d) {
    text_unsigned(t, tm_load64(d->frame + WIRE_ORIGIN));
    text_byte(t, '-');
    text_unsigned(t, tm_load64(d->frame + WIRE_COUNTER));
}

static void put_matched(text *t, const delivery *d) {
    TEXT_PUT(t, ",\"matched\":[");
    for (uint32_t i = 0; i < d->id_count && !t->is_full; i++) {
        if (i > 0) {
            text_byte(t, ',');
        }
        text_unsigned(t, tm_load32(d->ids + 4 * (size_t)i));
    }
    text_byte(t, ']');
}

static void put_stored(text *t, const delivery *d) {
    if (d->position != 0) {
        TEXT_PUT(t, ",\"position\":");
        text_unsigned(t, d->position);
    }
    if (!d->has_deliveries) {
        return;
    }
    TEXT_PUT(t, ",\"deliveries\":");
    text_unsigned(t, d->deliveries);
    if ((d->bits & WIRE_REPLAYED) != 0) {
        TEXT_PUT(t, ",\"replayed\":true");
    }
    if ((d->bits & WIRE_MAYBE_DUPLICATE) != 0) {
        TEXT_PUT(t, ",\"maybe_duplicate\":true");
    }
    if ((d->bits & WIRE_DEAD_LETTER) != 0) {
        TEXT_PUT(t, ",\"dead_letter\":true");
    }
}

static bool put_message(text *t, const delivery *d, const uint8_t *limit, uint32_t fields) {
    uint64_t published = tm_load64(d->frame + WIRE_PUBLISHED);
    text_byte(t, '{');
    if ((fields & TM_EVENTS_ID) != 0) {
        TEXT_PUT(t, "\"id\":\"");
        put_id(t, d);
        TEXT_PUT(t, "\",");
    }
    if (!put_attributes(t, d, limit, fields)) {
        return false;
    }
    put_payload(t, d, limit);
    if ((fields & TM_EVENTS_TIME) != 0 && published != 0) {
        TEXT_PUT(t, ",\"time\":");
        text_time(t, published);
    }
    if ((fields & TM_EVENTS_MATCHED) != 0) {
        put_matched(t, d);
    }
    if ((fields & TM_EVENTS_STORED) != 0) {
        put_stored(t, d);
    }
    text_byte(t, '}');
    return true;
}

/* ---- forms ---- */

static bool put_event(text *t, const delivery *d, const uint8_t *limit, uint32_t fields) {
    TEXT_PUT(t, "id: ");
    if ((fields & TM_EVENTS_BY_POSITION) != 0 && d->position != 0) {
        text_unsigned(t, d->position);
    } else {
        put_id(t, d);
    }
    TEXT_PUT(t, "\ndata: ");
    if (!put_message(t, d, limit, fields)) {
        return false;
    }
    TEXT_PUT(t, "\n\n");
    return true;
}

static bool put_line_of_socket(const tm_events *events, text *t, const delivery *d, const uint8_t *limit) {
    TEXT_PUT(t, "{\"message\":");
    if (!put_message(t, d, limit, events->options.fields)) {
        return false;
    }
    TEXT_PUT(t, ",\"for\":[");
    for (uint32_t i = 0; i < d->id_count && !t->is_full; i++) {
        uint32_t id = tm_load32(d->ids + 4 * (size_t)i);
        const title *named = titles_of(&events->titles, id);
        if (i > 0) {
            text_byte(t, ',');
        }
        if (named != NULL) {
            text_bytes(t, named->json, named->size);
        } else {
            text_unsigned(t, id);
        }
    }
    TEXT_PUT(t, "]}");
    return true;
}

/* Write the head of the frame of a WebSocket whose content begins SOCKET_HEAD bytes behind `frame`. */
static void close_frame(text *t, uint8_t *frame) {
    uint8_t *content = frame + SOCKET_HEAD;
    size_t size = (size_t)(t->at - content);
    size_t head = size <= SOCKET_SHORT ? 2 : size <= SOCKET_MIDDLE ? SOCKET_HEAD : SOCKET_HEAD_LONG;
    if (head != SOCKET_HEAD) {
        memmove(frame + head, content, size);
        t->at = frame + head + size;
    }
    frame[0] = SOCKET_TEXT;
    if (head == 2) {
        frame[1] = (uint8_t)size;
    } else if (head == SOCKET_HEAD) {
        frame[1] = 126;
        wire_store16(frame + 2, __builtin_bswap16((uint16_t)size));
    } else {
        frame[1] = 127;
        wire_store64(frame + 2, __builtin_bswap64(size));
    }
}

static size_t size_of_frame(const text *t, const uint8_t *frame) {
    return (size_t)(t->at - frame) - SOCKET_HEAD;
}

/* Close a frame of at most SOCKET_MIDDLE bytes before the line whose newline is at `newline`, which begins the next. */
static void part(text *t, uint8_t **frame, uint8_t *newline) {
    text closed = {newline, t->end, false};
    size_t size = (size_t)(t->at - newline) - 1;
    close_frame(&closed, *frame);
    *frame = closed.at;
    memmove(*frame + SOCKET_HEAD, newline + 1, size);
    t->at = *frame + SOCKET_HEAD + size;
}

/* Write one message; `*frame` is the frame of a WebSocket that is open, or NULL. */
static bool put_one(const tm_events *events, text *t, const delivery *d, const uint8_t *limit, uint8_t **frame) {
    if (events->options.form == TM_EVENTS_SSE) {
        return put_event(t, d, limit, events->options.fields);
    }
    if (events->options.form == TM_EVENTS_NDJSON) {
        bool is_sound = put_message(t, d, limit, events->options.fields);
        text_byte(t, '\n');
        return is_sound;
    }
    uint8_t *before = t->at;
    if (*frame == NULL) {
        TEXT_PUT(t, "    ");
    } else {
        text_byte(t, '\n');
    }
    if (!put_line_of_socket(events, t, d, limit)) {
        return false;
    }
    if (!text_has_room(t)) { /* a head may become longer */
        return true;
    }
    if (*frame == NULL) {
        *frame = before;
    } else if (size_of_frame(t, *frame) > events->options.joined_bytes_max) {
        part(t, frame, before);
    }
    if (size_of_frame(t, *frame) >= events->options.joined_bytes_max) {
        close_frame(t, *frame);
        *frame = NULL;
    }
    return true;
}

/* Return how many bytes of text a message takes at most. An id has four bytes, so that its digits are counted. */
static uint64_t most_of(const tm_events *events, const delivery *d) {
    uint64_t most =
        (uint64_t)ESCAPE_BYTES_MAX * (d->size - WIRE_HEADER_BYTES) + TM_ATTRIBUTES_MAX * PAIR_BYTES + MESSAGE_BYTES;
    for (uint32_t i = 0; i < d->id_count && events->options.form == TM_EVENTS_SOCKET; i++) {
        const title *named = titles_of(&events->titles, tm_load32(d->ids + 4 * (size_t)i));
        most += named != NULL ? named->size + 1 : 0;
    }
    return most;
}

static void note(tm_events_said *said, const delivery *d) {
    said->origin = tm_load64(d->frame + WIRE_ORIGIN);
    said->counter = tm_load64(d->frame + WIRE_COUNTER);
    said->position = d->position;
    said->consumed += d->size;
    said->messages++;
}

int tm_events_write(const tm_events *events, const uint8_t *in, size_t size, uint8_t *out, size_t capacity,
                    tm_events_said *said) {
    static const uint32_t STOPPED[] = {[DELIVERY_PARTIAL] = TM_EVENTS_PARTIAL, [DELIVERY_OTHER] = TM_EVENTS_OTHER};
    text t = {out, out + capacity, false};
    uint8_t *frame = NULL;
    int result = TM_OK;
    *said = (tm_events_said){0};
    while (result == TM_OK && said->consumed < size) {
        delivery d;
        uint8_t *before = t.at;
        delivery_state state = delivery_read(in + said->consumed, size - said->consumed, &d);
        if (state == DELIVERY_UNSOUND) {
            result = TM_MALFORMED;
        } else if (state != DELIVERY_WHOLE) {
            said->stopped = STOPPED[state];
            break;
        } else if (!put_one(events, &t, &d, in + size, &frame)) {
            result = TM_MALFORMED;
            t.at = before;
        } else if (t.is_full) {
            said->needed = most_of(events, &d);
            said->stopped = TM_EVENTS_ROOM;
            t.at = before;
            break;
        } else {
            note(said, &d);
        }
    }
    if (frame != NULL) {
        close_frame(&t, frame);
    }
    said->written = (uint64_t)(t.at - out);
    return result;
}
