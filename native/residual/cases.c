/* cases.c - see cases.h. */
#include "residual/cases.h"

#include <string.h>

#include "residual/cases_table.h"
#include "residual/characters.h"

#define TABLE(runs) {runs, sizeof(runs) / sizeof(runs)[0]}

static const struct table {
    const tm_case_run *runs;
    uint32_t count;
} TABLES[] = {
    [CASE_FOLDED] = TABLE(TM_FOLD_RUNS),
    [CASE_LOWER] = TABLE(TM_LOWER_RUNS),
    [CASE_UPPER] = TABLE(TM_UPPER_RUNS),
};

static uint32_t ascii_of(uint32_t character, tm_case to) {
    uint32_t first = to == CASE_UPPER ? 'a' : 'A';
    return character - first < 26 ? character ^ 0x20U : character;
}

static uint32_t other_of(uint32_t character, tm_case to) {
    const tm_case_run *runs = TABLES[to].runs;
    uint32_t first = 0;
    uint32_t end = TABLES[to].count;
    while (first < end) { /* the first run that does not end before the character */
        uint32_t middle = (first + end) / 2;
        bool is_before = runs[middle].last < character;
        first = is_before ? middle + 1 : first;
        end = is_before ? end : middle;
    }
    const tm_case_run *run = &runs[first];
    bool is_in = first < TABLES[to].count && run->first <= character && (character - run->first) % run->stride == 0;
    return is_in ? character + (uint32_t)run->added : character;
}

uint32_t tm_case_of(uint32_t character, tm_case to) {
    return character < 0x80 ? ascii_of(character, to) : other_of(character, to);
}

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))
#define HIGH_BITS EACH(0x80)

/* Return eight ASCII characters in the case. */
static uint64_t eight_of(uint64_t characters, tm_case to) {
    uint64_t first = to == CASE_UPPER ? 'a' : 'A';
    uint64_t from = characters + EACH(0x80 - first);          /* high bits: not before the first letter */
    uint64_t behind = characters + EACH(0x80 - (first + 26)); /* high bits: behind the last one */
    return characters ^ ((from ^ behind) & HIGH_BITS) >> 2;
}

/* Write the ASCII characters that a text begins with, eight at a time, and return their bytes. */
static uint32_t write_ascii(const uint8_t *text, uint32_t length, tm_case to, uint8_t *out) {
    uint32_t at = 0;
    for (uint64_t eight; at + sizeof eight <= length; at += (uint32_t)sizeof eight) {
        memcpy(&eight, text + at, sizeof eight);
        if (eight & HIGH_BITS) {
            break;
        }
        eight = eight_of(eight, to);
        memcpy(out + at, &eight, sizeof eight);
    }
    return at;
}

bool tm_case_text(const uint8_t *text, uint32_t length, tm_case to, uint8_t *out, uint32_t capacity,
                  uint32_t *written) {
    uint32_t size = write_ascii(text, length < capacity ? length : capacity, to, out);
    for (uint32_t at = size; at < length;) {
        uint32_t character = tm_case_of(character_next(text, &at), to);
        if (size + character_bytes(character) > capacity) {
            return false;
        }
        size += character_write(character, out + size);
    }
    *written = size;
    return true;
}

static bool same(uint32_t one, uint32_t other) {
    return one == other || tm_case_of(one, CASE_FOLDED) == tm_case_of(other, CASE_FOLDED);
}

/* Return whether the text begins with the part; `*end` is where it then goes on. */
static bool begins(const uint8_t *text, uint32_t length, const uint8_t *part, uint32_t part_length, uint32_t *end) {
    uint32_t at = 0;
    for (uint32_t in_part = 0; in_part < part_length;) {
        if (at == length || !same(character_next(text, &at), character_next(part, &in_part))) {
            return false;
        }
    }
    *end = at;
    return true;
}

bool tm_case_prefix(const uint8_t *text, uint32_t length, const uint8_t *part, uint32_t part_length) {
    uint32_t end;
    return begins(text, length, part, part_length, &end);
}

bool tm_case_same(const uint8_t *text, uint32_t length, const uint8_t *other, uint32_t other_length) {
    uint32_t end;
    return begins(text, length, other, other_length, &end) && end == length;
}

bool tm_case_suffix(const uint8_t *text, uint32_t length, const uint8_t *part, uint32_t part_length) {
    uint32_t at = length;
    for (uint32_t in_part = part_length; in_part > 0;) {
        if (at == 0 || !same(character_before(text, &at), character_before(part, &in_part))) {
            return false;
        }
    }
    return true;
}
