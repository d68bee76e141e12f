/* record_lines.c - see record_lines.h.
 *
 * Law: a line has exactly the fields of its kind, without those that do not apply; a test compares them. Attributes are
 * JSON inside a JSON string. A float is written so that it reads back unchanged, an integral one with its point.
 */
#include "records/record_lines.h"

#include <stdio.h>
#include <string.h>

#include "model/msgpack.h"
#include "records/names.h"

#define FIXED_BYTES 1024U       /* of field names and numbers */
#define BYTES_OF_CONNECTION 11U /* ten digits and a comma */
#define BYTES_OF_BYTE 8U        /* a control character: two backslashes, u and four digits */
#define BYTES_OF_ATTRIBUTE 32U  /* quotes and colon; a short msgpack number may be long in digits */
#define DOUBLE_BYTES 32U

/* The public names of TM_DROP_*. */
static const char *const REASONS[TM_DROP_REASONS] = {
    "queue_full",  "too_large", "expired", "duplicate", "draining", "unmatched",  "extension",   "closed",
    "memory",      "hops",      "parent",  "transit",   "no_route", "no_link",    "too_old",     "too_far_ahead",
    "not_in_step", "costly",    "epoch",   "no_member", "space",    "not_stored", "not_allowed", "directed",
};

static const char *const WHATS[FATES] = {
    "acked", "expired", "dropped",  "replaced", "dead",    "undeliverable", "damaged",  "skipped",
    "kept",  "given",   "replayed", "told",     "entered", "passed",        "given_up", "missed",
};
static const char *const SOURCES[STORED_SOURCES] = {"publisher", "start", "letter"};

/* ---- pieces ---- */

static uint8_t *put(uint8_t *at, const void *bytes, size_t size) {
    memcpy(at, bytes, size);
    return at + size;
}

#define PUT(at, literal) put((at), (literal), sizeof(literal) - 1)

static uint8_t *put_number(uint8_t *at, uint64_t number) {
    uint8_t digits[20];
    unsigned first = sizeof digits;
    do {
        digits[--first] = (uint8_t)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    return put(at, digits + first, sizeof digits - first);
}

static uint8_t *put_integer(uint8_t *at, int64_t number) {
    if (number < 0) {
        *at++ = '-';
        return put_number(at, 0 - (uint64_t)number);
    }
    return put_number(at, (uint64_t)number);
}

/* Write an unsigned number as the signed 64-bit integer that JSON readers expect. */
static uint8_t *put_signed(uint8_t *at, uint64_t number) {
    return put_integer(at, (int64_t)number);
}

static uint8_t *put_hex(uint8_t *at, uint64_t number) {
    *at++ = '"';
    for (unsigned shift = 64; shift > 0; shift -= 4) {
        *at++ = (uint8_t)"0123456789abcdef"[number >> (shift - 4) & 15];
    }
    *at++ = '"';
    return at;
}

/* ---- attributes: text inside text ---- */

static uint8_t *put_text(uint8_t *at, const uint8_t *text, uint32_t length) {
    at = PUT(at, "\\\"");
    for (uint32_t i = 0; i < length; i++) {
        uint8_t byte = text[i];
        if (byte == '"') {
            at = PUT(at, "\\\\\\\"");
        } else if (byte == '\\') {
            at = PUT(at, "\\\\\\\\");
        } else if (byte < 0x20) {
            at = PUT(at, "\\\\u00");
            *at++ = (uint8_t)('0' + (byte >> 4));
            *at++ = (uint8_t)"0123456789abcdef"[byte & 15];
        } else {
            *at++ = byte;
        }
    }
    return PUT(at, "\\\"");
}

/* Write the shorter of two notations that read back unchanged. */
static uint8_t *put_real(uint8_t *at, double real) {
    char text[DOUBLE_BYTES];
    double back = 0;
    int size = snprintf(text, sizeof text, "%.15g", real);
    if (sscanf(text, "%lf", &back) != 1 || back != real) {
        size = snprintf(text, sizeof text, "%.17g", real);
    }
    return put(at, text, (size_t)size);
}

static uint8_t *put_value(uint8_t *at, const tm_value *value, bool is_float) {
    switch (value->kind) {
    case TM_KIND_BOOLEAN:
        return value->integer != 0 ? PUT(at, "true") : PUT(at, "false");
    case TM_KIND_INTEGER:
        at = put_integer(at, value->integer);
        return is_float ? PUT(at, ".0") : at;
    case TM_KIND_FLOAT:
        return put_real(at, value->real);
    default:
        return put_text(at, value->string, value->length);
    }
}

/* Write attributes that the switch has validated. */
static uint8_t *put_attributes(uint8_t *at, const uint8_t *bytes, uint32_t size) {
    tm_cursor cursor = {bytes, bytes + size};
    uint32_t pairs = 0;
    tm_read_map(&cursor, &pairs);
    *at++ = '{';
    for (uint32_t i = 0; i < pairs; i++) {
        const uint8_t *name;
        uint32_t length;
        tm_value value;
        if (!tm_read_string(&cursor, TM_NAME_BYTES_MAX, &name, &length) || cursor.at == cursor.end) {
            break;
        }
        bool is_float = *cursor.at == 0xca || *cursor.at == 0xcb;
        if (!tm_read_value(&cursor, TM_STRING_BYTES_MAX, &value)) {
            break;
        }
        at = put_text(i > 0 ? PUT(at, ",") : at, name, length);
        *at++ = ':';
        at = put_value(at, &value, is_float);
    }
    *at++ = '}';
    return at;
}

/* ---- a line ---- */

static uint8_t *put_router(const tm_records *records, uint8_t *at, uint64_t number) {
    const tm_record_name *named = tm_records_named(records, number);
    return named != NULL ? put(at, named->text, named->size) : put_hex(at, number);
}

static uint8_t *put_links(const tm_records *records, uint8_t *at, const uint64_t *links, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        at = put_router(records, i > 0 ? PUT(at, ",") : at, links[i]);
    }
    return at;
}

static uint8_t *put_connections(uint8_t *at, const uint32_t *connections, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        at = i > 0 ? PUT(at, ",") : at;
        at = connections[i] == UINT32_MAX ? PUT(at, "-1") : put_number(at, connections[i]);
    }
    return at;
}

static uint8_t *put_identity(const tm_records *records, const tm_record *record, uint8_t *at) {
    at = put_number(put(at, records->prefix, records->prefix_size), record->t_us);
    at = put_number(PUT(at, ",\"n\":"), record->n);
    at = put_hex(PUT(at, ",\"origin\":"), record->origin);
    at = put_signed(PUT(at, ",\"number\":"), record->number);
    at = put_router(records, PUT(at, ",\"source\":"), record->source);
    at = put_signed(PUT(at, ",\"source_epoch\":"), record->source_epoch);
    return record->transit == 0 ? at : put_signed(PUT(at, ",\"transit\":"), record->transit);
}

static uint8_t *put_arrival(const tm_records *records, const tm_record *record, uint8_t *at) {
    if (record->from_neighbour == 0) {
        at = put_number(PUT(at, ",\"hop\":0,\"from_connection\":"), record->from_connection);
    } else {
        const tm_record_name *source = tm_records_named(records, record->source);
        if (source != NULL) {
            at = put_number(PUT(at, ",\"hop\":"), source->hops);
        }
        at = put_router(records, PUT(at, ",\"from_neighbour\":"), record->from_neighbour);
    }
    return record->published_us == 0 ? at : put_number(PUT(at, ",\"published_us\":"), record->published_us);
}

static uint8_t *put_outcome(const tm_records *records, tm_record *record, uint8_t *at) {
    at = put_number(PUT(at, ",\"match_ns\":"), record->match_ns);
    at = put_number(PUT(at, ",\"matched\":"), record->matched);
    at = put_links(records, PUT(at, ",\"to_neighbours\":["), tm_record_links(record), record->links);
    at = put_connections(PUT(at, "],\"to_connections\":["), tm_record_clients(record), record->clients);
    at = put_connections(PUT(at, "],\"dropped\":["), tm_record_dropped(record), record->dropped);
    return put_number(PUT(at, "],\"bytes\":"), record->bytes);
}

static size_t message_bytes(const tm_records *records, const tm_record *record) {
    size_t names = (size_t)(records->name_bytes_max < 18 ? 18 : records->name_bytes_max) + 1;
    return FIXED_BYTES + records->prefix_size + names * ((size_t)record->links + 2) +
           BYTES_OF_CONNECTION * ((size_t)record->clients + record->dropped) +
           BYTES_OF_BYTE * (size_t)record->attribute_bytes + BYTES_OF_ATTRIBUTE * TM_ATTRIBUTES_MAX;
}

static uint8_t *put_message(const tm_records *records, tm_record *record, uint8_t *at) {
    at = put_outcome(records, record, put_arrival(records, record, put_identity(records, record, at)));
    if (record->entered) {
        at = put_attributes(PUT(at, ",\"attributes\":\""), tm_record_attributes(record), record->attribute_bytes);
        *at++ = '"';
    }
    if (record->refused != RECORD_NOT_REFUSED) {
        const char *reason = REASONS[record->refused];
        at = put(PUT(at, ",\"refused\":\""), reason, strlen(reason));
        *at++ = '"';
    }
    return PUT(at, "}\n");
}

/* ---- stored messages ---- */

static uint8_t *put_word(uint8_t *at, const char *word) {
    *at++ = '"';
    at = put(at, word, strlen(word));
    *at++ = '"';
    return at;
}

static uint8_t *put_stored(const tm_records *records, const tm_stored_record *record, uint8_t *at) {
    bool is_of_chain = record->what >= FATE_ENTERED;
    bool has_id = record->what == FATE_STORED || record->what == FATE_GIVEN || record->what == FATE_REPLAYED ||
                  record->what == FATE_ENTERED || record->what == FATE_PASSED;
    at = put_number(put(at, records->stored_prefix, records->stored_prefix_size), record->t_us);
    at = put_number(PUT(at, ",\"n\":"), record->n);
    at = is_of_chain ? at : put_number(PUT(at, ",\"keep\":"), record->durable);
    at = put_word(PUT(at, ",\"what\":"), WHATS[record->what]);
    at = is_of_chain ? put_router(records, PUT(at, ",\"peer\":"), record->peer) : at;
    at = record->first != 0 ? put_signed(PUT(at, ",\"first\":"), record->first) : at;
    at = record->position != 0 ? put_signed(PUT(at, ",\"position\":"), record->position) : at;
    if (has_id) {
        at = put_hex(PUT(at, ",\"origin\":"), record->origin);
        at = put_signed(PUT(at, ",\"number\":"), record->number);
        at = record->maybe_duplicate ? PUT(at, ",\"maybe_duplicate\":true") : at;
    }
    if (record->what == FATE_STORED) {
        at = put_word(PUT(at, ",\"source\":"), SOURCES[record->source]);
        at = record->expires_ms != 0 ? put_signed(PUT(at, ",\"expires_us\":"), record->expires_ms * 1000) : at;
    }
    at = record->connection != UINT32_MAX ? put_number(PUT(at, ",\"connection\":"), record->connection) : at;
    at = record->deliveries != 0 ? put_number(PUT(at, ",\"deliveries\":"), record->deliveries) : at;
    at = record->what == FATE_TOLD ? put_word(PUT(at, ",\"lost\":"), WHATS[record->lost]) : at;
    at = record->total != 0 ? put_signed(PUT(at, ",\"total\":"), record->total) : at;
    return PUT(at, "}\n");
}

/* ---- any ---- */

size_t tm_record_line_bytes(const tm_records *records, const tm_record_head *entry) {
    return entry->kind == RECORD_OF_STORED ? FIXED_BYTES + records->stored_prefix_size + records->name_bytes_max
                                           : message_bytes(records, (const tm_record *)entry);
}

uint8_t *tm_record_line(const tm_records *records, tm_record_head *entry, uint8_t *at) {
    return entry->kind == RECORD_OF_STORED ? put_stored(records, (const tm_stored_record *)entry, at)
                                           : put_message(records, (tm_record *)entry, at);
}
