/* json.c - one message in JSON as a PUBLISH frame. Law: see tm_relay_api.h.
 *
 * Attributes are written behind a header without extensions and a map of few pairs, which is nearly always right; else
 * they are moved. The payload follows when the object has ended, as its key may stand before the attributes.
 */
#include "relay/codecs/json.h"

#include <math.h>

#include "relay/codecs/attributes.h"
#include "relay/codecs/base64.h"
#include "relay/codecs/pack.h"

#define FEW 15U          /* pairs of a map whose head is one byte */
#define EXPIRY_BYTES 12U /* the extension with its head */
#define SPACE_BYTES_MAX 64U

typedef enum {
    KEY_ATTRIBUTES,
    KEY_PAYLOAD,
    KEY_PAYLOAD_BASE64,
    KEY_TTL,
    KEY_SPACE,
    KEY_OP, /* from here on of a socket alone */
    KEY_N,
    KEY_CONFIRM,
    KEY_BINARY,
    KEY_COUNT,
} json_key;

typedef struct reading {
    scan s;
    packing p;
    const tm_json_rules *rules;
    uint8_t *out;              /* the frame */
    uint32_t present;          /* keys, a bit each */
    const uint8_t *begin;      /* the object's brace */
    const uint8_t *payload_at; /* its quote */
    scan_string payload;
    const uint8_t *space_at;
    scan_string space;
    uint64_t ttl_ms;
    tm_json_made *made;
    uint8_t key[TM_JSON_NAME_SHOWN * 6];
} reading;

/* ---- keys ---- */

static const char *const KEYS[KEY_COUNT] = {"attributes", "payload", "payload_base64", "ttl_s", "space",
                                            "op",         "n",       "confirm",        "binary"};

static const struct {
    const char *word;
    uint8_t flags;
} LEVELS[] = {{"accepted", WIRE_FLAG_CONFIRM}, {"stored", WIRE_STORE_FLAGS}, {"none", 0}};

static bool take_ttl(reading *r) {
    const uint8_t *first = r->s.at;
    bool is_float;
    int64_t integer;
    decimal number;
    if (!scan_number(&r->s, &is_float, &integer, &number)) {
        return false;
    }
    double ms = (is_float ? decimal_read(&number) : (double)integer) * 1000;
    if (!(ms >= 1 && ms <= TM_JSON_TTL_S_MAX * 1e3)) {
        return scan_refuse(&r->s, TM_JSON_TTL, first);
    }
    r->ttl_ms = (uint64_t)rint(ms);
    return true;
}

static bool take_space(reading *r) {
    r->space_at = r->s.at;
    uint8_t text[6 * SPACE_BYTES_MAX + BLOCK_BYTES];
    if (!scan_text(&r->s, &r->space)) {
        return false;
    }
    bool is_long =
        r->space.size > 6 * SPACE_BYTES_MAX || (size_t)(scan_unescape(text, &r->space) - text) > SPACE_BYTES_MAX;
    return r->space.size > 0 && !is_long ? true : scan_refuse(&r->s, TM_JSON_SPACE_SIZE, r->space_at);
}

static bool take_n(reading *r) {
    const uint8_t *first = r->s.at;
    bool is_float;
    int64_t integer;
    decimal number;
    if (!scan_number(&r->s, &is_float, &integer, &number)) {
        return false;
    }
    if (is_float || integer < 0) {
        return scan_refuse(&r->s, TM_JSON_KEY_KIND, first);
    }
    r->made->has_n = 1;
    r->made->n = (uint64_t)integer;
    return true;
}

static bool take_confirm(reading *r) {
    const uint8_t *quote = r->s.at;
    scan_string word;
    if (!scan_text(&r->s, &word)) {
        return false;
    }
    for (size_t i = 0; i < sizeof LEVELS / sizeof *LEVELS; i++) {
        if (scan_is(&word, LEVELS[i].word)) {
            r->made->flags = LEVELS[i].flags;
            return true;
        }
    }
    return scan_refuse(&r->s, TM_JSON_CONFIRM, quote);
}

static bool take_op(reading *r) {
    const uint8_t *quote = r->s.at;
    scan_string word;
    return scan_text(&r->s, &word) && (scan_is(&word, "publish") || scan_refuse(&r->s, TM_JSON_OTHER_OP, quote));
}

static bool take_payload(reading *r) {
    r->payload_at = r->s.at;
    return scan_text(&r->s, &r->payload);
}

static bool take_binary(reading *r, uint8_t byte) {
    const uint8_t *first = r->s.at;
    r->made->binary = byte == 't';
    return scan_word(&r->s, byte == 't' ? "true" : "false", byte == 't' ? 4 : 5) ||
           scan_refuse(&r->s, TM_JSON_KEY_KIND, first);
}

static bool has_kind(json_key key, uint8_t byte) {
    switch (key) {
    case KEY_ATTRIBUTES:
        return byte == '{';
    case KEY_TTL:
    case KEY_N:
        return byte == '-' || (byte >= '0' && byte <= '9');
    case KEY_BINARY:
        return byte == 't' || byte == 'f';
    default:
        return byte == '"';
    }
}

static bool take_keyed(reading *r, json_key key, uint8_t byte) {
    switch (key) {
    case KEY_ATTRIBUTES:
        return attributes_take(&r->s, &r->p);
    case KEY_TTL:
        return take_ttl(r);
    case KEY_SPACE:
        return take_space(r);
    case KEY_OP:
        return take_op(r);
    case KEY_N:
        return take_n(r);
    case KEY_CONFIRM:
        return take_confirm(r);
    case KEY_BINARY:
        return take_binary(r, byte);
    default:
        return take_payload(r);
    }
}

/* Note a key for a refusal. */
static void note_key(reading *r, scan_string key) {
    if (key.size > sizeof r->key) { /* what is shown of it has not more bytes, nor a whole escape in the middle */
        key.size = TM_JSON_NAME_SHOWN;
        while (key.is_escaped && memchr(key.at, '\\', key.size) != NULL) {
            key.size = (size_t)((const uint8_t *)memchr(key.at, '\\', key.size) - key.at);
        }
        while (key.size > 0 && (key.at[key.size] & 0xc0) == 0x80) {
            key.size--;
        }
        key.is_escaped = false;
    }
    r->p.name = r->key;
    r->p.name_size = (uint32_t)(scan_unescape(r->key, &key) - r->key);
}

static bool take_key(reading *r, json_key *found) {
    const uint8_t *quote = r->s.at;
    scan_string key;
    if (!scan_text(&r->s, &key)) {
        return false;
    }
    unsigned count = r->rules->is_socket ? KEY_COUNT : KEY_OP;
    unsigned i = 0;
    while (i < count && !scan_is(&key, KEYS[i])) {
        i++;
    }
    *found = (json_key)i;
    if (i < count) {
        r->p.name = (const uint8_t *)KEYS[i];
        r->p.name_size = (uint32_t)strlen(KEYS[i]);
    } else {
        note_key(r, key);
        return scan_refuse(&r->s, TM_JSON_UNKNOWN_KEY, quote);
    }
    uint32_t payloads = 1U << KEY_PAYLOAD | 1U << KEY_PAYLOAD_BASE64;
    if ((r->present >> i & 1) != 0) {
        return scan_refuse(&r->s, TM_JSON_KEY_TWICE, quote);
    }
    r->present |= 1U << i;
    return (r->present & payloads) != payloads || scan_refuse(&r->s, TM_JSON_TWO_PAYLOADS, quote);
}

/* Read the object and what is behind it. */
static bool take_object(reading *r) {
    scan *s = &r->s;
    uint8_t byte;
    bool is_over;
    if (!scan_next(s, &byte)) {
        return false;
    }
    r->begin = s->at;
    if (byte != '{') {
        return scan_refuse(s, TM_JSON_NOT_OBJECT, s->at);
    }
    if (!scan_enter(s, &is_over)) {
        return false;
    }
    while (!is_over) {
        json_key key;
        if (!take_key(r, &key)) {
            return false;
        }
        uint32_t size = r->p.name_size;
        r->p.name_size = 0;
        if (!scan_colon(s, &byte)) {
            return false;
        }
        if (!has_kind(key, byte)) {
            r->p.name_size = size;
            return scan_refuse(s, TM_JSON_KEY_KIND, s->at);
        }
        if (!take_keyed(r, key, byte) || !scan_separator(s, &is_over)) {
            return false;
        }
    }
    scan_white(s);
    return s->at == s->end || scan_refuse(s, TM_JSON_TRAILING, s->at);
}

/* ---- the frame ---- */

/* Write the attribute that names the space, unless it is there. */
static bool put_space(reading *r) {
    const tm_json_rules *rules = r->rules;
    uint8_t *attributes = r->out + WIRE_HEADER_BYTES + 1;
    uint8_t *value = r->p.at;
    uint8_t *end = pack_string(value, &r->space, r->s.limit);
    if (names_add(&r->p.names, rules->naming, rules->naming_size)) {
        if (r->p.pairs == TM_ATTRIBUTES_MAX) {
            return scan_refuse(&r->s, TM_JSON_TOO_MANY, r->space_at);
        }
        scan_string naming = {rules->naming, rules->naming_size, false};
        uint8_t text[SPACE_BYTES_MAX + 2];
        size_t written = (size_t)(end - value);
        memcpy(text, value, written);
        r->p.at = pack_string(value, &naming, rules->naming + rules->naming_size);
        memcpy(r->p.at, text, written);
        r->p.at += written;
        r->p.pairs++;
        return true;
    }
    for (uint32_t i = 0; i < r->p.names.count; i++) { /* its value stands behind its name */
        const uint8_t *own = r->p.names.at[i];
        size_t written = (size_t)(end - value);
        if (r->p.names.size[i] == rules->naming_size && memcmp(own, rules->naming, rules->naming_size) == 0) {
            const uint8_t *behind = own + rules->naming_size;
            bool is_same =
                behind >= attributes && (size_t)(value - behind) >= written && memcmp(behind, value, written) == 0;
            return is_same || scan_refuse(&r->s, TM_JSON_SPACE_DIFFERS, r->space_at);
        }
    }
    return true;
}

/* Write the payload behind the attributes. */
static bool put_payload(reading *r) {
    if (r->payload_at == NULL) {
        return true;
    }
    uint8_t *end = scan_unescape(r->p.at, &r->payload);
    if ((r->present >> KEY_PAYLOAD_BASE64 & 1) != 0) {
        size_t size = (size_t)(end - r->p.at);
        if (!base64_read(r->p.at, &size)) {
            return scan_refuse(&r->s, TM_JSON_BASE64, r->payload_at);
        }
        end = r->p.at + size;
    }
    r->p.at = end;
    return true;
}

/* Make room for an expiry, and for the head of a map of more pairs; return the size of the extensions. */
static uint32_t move(reading *r) {
    uint32_t extensions = r->ttl_ms > 0 ? EXPIRY_BYTES : 0;
    uint32_t head = r->p.pairs > FEW ? 3 : 1;
    uint8_t *first = r->out + WIRE_HEADER_BYTES + 1;
    uint32_t further = extensions + head - 1;
    if (further > 0) {
        memmove(first + further, first, (size_t)(r->p.at - first));
        r->p.at += further;
    }
    uint8_t *map = first - 1 + extensions;
    if (head == 1) {
        *map = (uint8_t)(0x80 | r->p.pairs);
    } else {
        *map = 0xde;
        pack_16(map + 1, (uint16_t)r->p.pairs);
    }
    return extensions;
}

static bool put_frame(reading *r, const tm_json_numbering *numbering) {
    scan *s = &r->s;
    uint8_t *out = r->out;
    if ((r->present >> KEY_ATTRIBUTES & 1) == 0) {
        return scan_refuse(s, TM_JSON_NO_ATTRIBUTES, r->begin);
    }
    if (r->space_at != NULL && !put_space(r)) {
        return false;
    }
    uint32_t extensions = move(r);
    uint8_t *payload = r->p.at;
    if (!put_payload(r)) {
        return false;
    }
    size_t size = (size_t)(r->p.at - out);
    if (size > r->rules->frame_bytes_max) {
        return scan_refuse(s, TM_JSON_TOO_LARGE, r->begin);
    }
    memset(out, 0, WIRE_HEADER_BYTES);
    wire_store32(out, (uint32_t)size);
    out[WIRE_KIND] = WIRE_PUBLISH;
    out[WIRE_FLAGS] = r->made->flags;
    wire_store64(out + WIRE_ORIGIN, numbering->origin);
    wire_store64(out + WIRE_COUNTER, numbering->counter);
    wire_store64(out + WIRE_PUBLISHED, numbering->now_ns);
    wire_store16(out + WIRE_EXTENSION_SIZE, (uint16_t)extensions);
    wire_store32(out + WIRE_ATTRIBUTE_SIZE, (uint32_t)(payload - out) - WIRE_HEADER_BYTES - extensions);
    if (extensions > 0) {
        wire_store16(out + WIRE_HEADER_BYTES, WIRE_EXPIRY);
        wire_store16(out + WIRE_HEADER_BYTES + 2, 8);
        wire_store64(out + WIRE_HEADER_BYTES + 4, numbering->now_ns + r->ttl_ms * 1000000);
    }
    r->made->size = (uint32_t)size;
    return true;
}

static bool is_about_a_name(uint32_t code) {
    return code >= TM_JSON_NUMBER && code != TM_JSON_NO_ATTRIBUTES && code != TM_JSON_TOO_LARGE;
}

static void tell(const reading *r, const uint8_t *text, tm_json_refusal *refusal) {
    uint32_t shown = r->p.name_size < TM_JSON_NAME_SHOWN ? r->p.name_size : TM_JSON_NAME_SHOWN;
    memset(refusal, 0, sizeof *refusal);
    refusal->code = r->s.code;
    refusal->position = (uint32_t)(r->s.mark - text);
    refusal->column = 1;
    refusal->line = 1;
    for (const uint8_t *at = text; at < r->s.mark; at++) {
        refusal->line += *at == '\n';
        refusal->column = *at == '\n' ? 1 : refusal->column + ((*at & 0xc0) != 0x80);
    }
    if (r->p.name_size == 0 || !is_about_a_name(r->s.code)) {
        return;
    }
    refusal->name_size = r->p.name_size;
    while (shown < r->p.name_size && shown > 0 && (r->p.name[shown] & 0xc0) == 0x80) {
        shown--;
    }
    memcpy(refusal->name, r->p.name, shown);
}

bool json_rules_are_sound(const tm_json_rules *rules) {
    return rules != NULL && rules->naming != NULL && rules->naming_size > 0 &&
           rules->naming_size <= TM_NAME_BYTES_MAX && rules->frame_bytes_max <= TM_FRAME_BYTES_MAX;
}

bool json_publish(const tm_json_rules *rules, const tm_json_numbering *numbering, json_text text, uint8_t *out,
                  tm_json_made *made, tm_json_refusal *refusal) {
    reading r;
    r.s = (scan){.at = text.at, .end = text.at + text.size, .limit = text.limit};
    r.rules = rules;
    r.out = out;
    r.p.at = out + WIRE_HEADER_BYTES + 1;
    r.p.pairs = r.present = r.p.name_size = 0;
    r.begin = text.at;
    r.payload_at = r.space_at = NULL;
    r.ttl_ms = 0;
    r.made = made;
    names_begin(&r.p.names);
    *made = (tm_json_made){.flags = rules->flags};
    if (take_object(&r) && put_frame(&r, numbering)) {
        return true;
    }
    tell(&r, text.at, refusal);
    return false;
}

int tm_json_publish(const tm_json_rules *rules, const tm_json_numbering *numbering, const uint8_t *text, size_t size,
                    uint8_t *out, size_t capacity, tm_json_made *made, tm_json_refusal *refusal) {
    if (!json_rules_are_sound(rules) || size > TM_JSON_LINE_BYTES_MAX) {
        return TM_MISUSED;
    }
    if (capacity < size + TM_JSON_SLACK) {
        return TM_TOO_MANY;
    }
    json_text whole = {text, size, text + size};
    return json_publish(rules, numbering, whole, out, made, refusal) ? TM_OK : TM_MALFORMED;
}
