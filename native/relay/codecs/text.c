/* text.c - see text.h. */
#include "relay/codecs/text.h"

#include "base/utf8.h"
#include "relay/codecs/base64.h"
#include "relay/codecs/block.h"
#include "relay/codecs/decimals.h"

#define ESCAPE_BYTES_MAX 6U

void text_unsigned(text *t, uint64_t number) {
    if (text_has_room(t)) {
        t->at = decimal_write_unsigned(t->at, number);
    }
}

void text_integer(text *t, int64_t number) {
    if (text_has_room(t)) {
        t->at = decimal_write_integer(t->at, number);
    }
}

void text_real(text *t, double real) {
    if (text_has_room(t)) {
        t->at = decimal_write(t->at, real);
    }
}

/* Return whether `size` bytes and TEXT_SLACK are there. */
static bool has_room_for(text *t, size_t size) {
    t->is_full |= (size_t)(t->end - t->at) < size + TEXT_SLACK;
    return !t->is_full;
}

void text_bytes(text *t, const uint8_t *bytes, size_t size) {
    if (has_room_for(t, size)) {
        memcpy(t->at, bytes, size);
        t->at += size;
    }
}

/* ---- strings ---- */

static inline block_found special_of(block bytes) {
    return block_found_of((bytes < 0x20) | (bytes == '"') | (bytes == '\\') | (bytes == '<') | (bytes == 0xe2));
}

/* Return whether the characters at `from` begin as U+2028 or U+2029 does. */
static bool is_separator(const uint8_t *from, const uint8_t *end) {
    return end - from >= 3 && from[0] == 0xe2 && from[1] == 0x80 && (from[2] | 1) == 0xa9;
}

/* Write the special byte at `*from` and step over it. */
static uint8_t *put_special(uint8_t *at, const uint8_t **from, const uint8_t *end) {
    static const uint8_t SHORT[0x20] = {['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
    uint8_t byte = *(*from)++;
    if (byte == '"' || byte == '\\' || (byte < 0x20 && SHORT[byte] != 0)) {
        *at++ = '\\';
        *at++ = byte < 0x20 ? SHORT[byte] : byte;
        return at;
    }
    if (byte == 0xe2) {
        if (!is_separator(*from - 1, end)) {
            *at++ = byte;
            return at;
        }
        memcpy(at, (*from)[1] == 0xa8 ? "\\u2028" : "\\u2029", ESCAPE_BYTES_MAX);
        *from += 2;
        return at + ESCAPE_BYTES_MAX;
    }
    if (byte == '<' && !(*from < end && (**from == '/' || **from == '!'))) {
        *at++ = byte;
        return at;
    }
    memcpy(at, "\\u00", 4);
    at[4] = (uint8_t)('0' + (byte >> 4));
    at[5] = (uint8_t)"0123456789abcdef"[byte & 15];
    return at + ESCAPE_BYTES_MAX;
}

/* Return how many bytes the string takes at most, or, if these are not there, exactly. */
static size_t size_of(const text *t, const uint8_t *string, size_t size) {
    size_t exact = 0;
    uint8_t written[ESCAPE_BYTES_MAX];
    if ((size_t)(t->end - t->at) >= ESCAPE_BYTES_MAX * size + TEXT_SLACK) {
        return ESCAPE_BYTES_MAX * size;
    }
    for (const uint8_t *from = string; from < string + size;) {
        bool is_special = *from < 0x20 || *from == '"' || *from == '\\' || *from == '<' || *from == 0xe2;
        exact += is_special ? (size_t)(put_special(written, &from, string + size) - written) : 1;
        from += !is_special;
    }
    return exact;
}

bool text_string(text *t, const uint8_t *string, size_t size, const uint8_t *limit) {
    const uint8_t *from = string;
    const uint8_t *end = string + size;
    bool is_wide = false;
    if (!has_room_for(t, size_of(t, string, size))) {
        return true;
    }
    uint8_t *at = t->at;
    *at++ = '"';
    while (from < end) {
        unsigned left = end - from < BLOCK_BYTES ? (unsigned)(end - from) : BLOCK_BYTES;
        block bytes = block_of(from, limit);
        unsigned place = block_first(special_of(bytes));
        unsigned plain = place < left ? place : left;
        memcpy(at, &bytes, sizeof bytes);
        is_wide |= block_is_wide(bytes, plain);
        at += plain;
        from += plain;
        if (place < left) {
            is_wide |= *from >= 0x80;
            at = put_special(at, &from, end);
        }
    }
    *at++ = '"';
    t->at = at;
    return !is_wide || tm_utf8_valid(string, size);
}

void text_base64(text *t, const uint8_t *bytes, size_t size) {
    if (has_room_for(t, base64_size(size))) {
        *t->at++ = '"';
        t->at = base64_write(t->at, bytes, size);
        *t->at++ = '"';
    }
}

/* ---- times ---- */

/* Write the date of a day since 1970, by Howard Hinnant's "days to civil". */
static uint8_t *put_date(uint8_t *at, uint32_t day) {
    uint32_t shifted = day + 719468;
    uint32_t era = shifted / 146097;
    uint32_t of_era = shifted % 146097;
    uint32_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    uint32_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    uint32_t month_from_march = (5 * of_year + 2) / 153;
    uint32_t month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
    at = decimal_write_padded(at, year_of_era + era * 400 + (month <= 2), 4);
    *at++ = '-';
    at = decimal_write_padded(at, month, 2);
    *at++ = '-';
    return decimal_write_padded(at, of_year - (153 * month_from_march + 2) / 5 + 1, 2);
}

void text_time(text *t, uint64_t ns) {
    uint64_t seconds = ns / 1000000000;
    uint32_t of_day = (uint32_t)(seconds % 86400);
    if (!text_has_room(t)) {
        return;
    }
    *t->at = '"';
    uint8_t *at = put_date(t->at + 1, (uint32_t)(seconds / 86400));
    *at++ = 'T';
    at = decimal_write_padded(at, of_day / 3600, 2);
    *at++ = ':';
    at = decimal_write_padded(at, of_day / 60 % 60, 2);
    *at++ = ':';
    at = decimal_write_padded(at, of_day % 60, 2);
    *at++ = '.';
    at = decimal_write_padded(at, (uint32_t)(ns % 1000000000), 9);
    memcpy(at, "Z\"", 2);
    t->at = at + 2;
}
