/* texts.c - see texts.h. */
#define _GNU_SOURCE /* memmem */
#include "residual/texts.h"

#include <arpa/inet.h>

#include "residual/cases.h"
#include "residual/characters.h"

/* ---- questions ---- */

static bool plain_has(residual_op op, residual_value text, residual_value part) {
    if (part.length == 0 || part.length > text.length) {
        return part.length == 0;
    }
    if (op == RESIDUAL_CONTAINS) {
        return memmem(text.text, text.length, part.text, part.length) != NULL;
    }
    uint32_t from = op == RESIDUAL_PREFIX ? 0 : text.length - part.length;
    return memcmp(text.text + from, part.text, part.length) == 0;
}

bool residual_has(residual_op op, residual_value text, residual_value part, bool is_folded) {
    if (op == RESIDUAL_SAME_FOLDED) {
        return tm_case_same(text.text, text.length, part.text, part.length);
    }
    if (!is_folded) {
        return plain_has(op, text, part);
    }
    return op == RESIDUAL_PREFIX ? tm_case_prefix(text.text, text.length, part.text, part.length)
                                 : tm_case_suffix(text.text, text.length, part.text, part.length);
}

static bool bits_equal(const uint8_t *a, const uint8_t *b, uint32_t bits) {
    uint32_t whole = bits / 8;
    uint8_t mask = (uint8_t)(0xff00U >> bits % 8);
    return memcmp(a, b, whole) == 0 && (bits % 8 == 0 || ((a[whole] ^ b[whole]) & mask) == 0);
}

bool residual_is_inside(residual_value text, residual_constant network) {
    char written[INET6_ADDRSTRLEN];
    uint8_t address[16];
    if (text.length == 0 || text.length >= sizeof written || memchr(text.text, 0, text.length) != NULL) {
        return false;
    }
    memcpy(written, text.text, text.length);
    written[text.length] = 0;
    bool is_four = network.length == 5;
    return inet_pton(is_four ? AF_INET : AF_INET6, written, address) == 1 &&
           bits_equal(address, network.data + 1, network.data[0]);
}

/* ---- functions ---- */

static residual_value in_case(residual_value text, tm_case to, residual_arena *arena) {
    uint8_t *made = arena->bytes + arena->used;
    uint32_t size = 0;
    if (!tm_case_text(text.text, text.length, to, made, RESIDUAL_ARENA_BYTES - arena->used, &size)) {
        return residual_unknown();
    }
    arena->used += size;
    return residual_text(made, size);
}

static bool is_white(uint8_t byte) {
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static residual_value trimmed(residual_value text) {
    while (text.length > 0 && is_white(text.text[0])) {
        text.text++;
        text.length--;
    }
    while (text.length > 0 && is_white(text.text[text.length - 1])) {
        text.length--;
    }
    return text;
}

residual_value residual_of_text(residual_op op, residual_value text, residual_arena *arena) {
    switch (op) {
    case RESIDUAL_LENGTH:
        return residual_integer(character_count(text.text, text.length));
    case RESIDUAL_UPPER:
        return in_case(text, CASE_UPPER, arena);
    case RESIDUAL_LOWER:
        return in_case(text, CASE_LOWER, arena);
    default:
        return trimmed(text);
    }
}

residual_value residual_concat(residual_value left, residual_value right, residual_arena *arena) {
    uint32_t room = RESIDUAL_ARENA_BYTES - arena->used;
    if (left.length > room || right.length > room - left.length) {
        return residual_unknown();
    }
    uint8_t *made = arena->bytes + arena->used;
    memmove(made, left.text, left.length);
    memmove(made + left.length, right.text, right.length);
    arena->used += left.length + right.length;
    return residual_text(made, left.length + right.length);
}

/* Return `length` characters from the character `first` on, which is at most the number of characters. */
static residual_value piece(residual_value text, uint32_t first, int64_t length) {
    uint32_t start = character_place(text.text, text.length, first);
    uint32_t left = text.length - start;
    uint32_t most = length < left ? (uint32_t)length : left; /* a character is a byte at least */
    return residual_text(text.text + start, character_place(text.text + start, left, most));
}

residual_value residual_substring(residual_value text, residual_value start, residual_value length) {
    if (start.kind != RESIDUAL_IS_INTEGER || length.kind != RESIDUAL_IS_INTEGER || length.integer < 0) {
        return residual_unknown();
    }
    int64_t count = character_count(text.text, text.length);
    if (start.integer > count || start.integer < -count) {
        return residual_unknown();
    }
    if (start.integer == 0) {
        return residual_text(text.text, 0);
    }
    int64_t first = start.integer > 0 ? start.integer - 1 : count + start.integer;
    return piece(text, (uint32_t)first, length.integer);
}

residual_value residual_side(residual_op op, residual_value text, residual_value length) {
    if (length.kind != RESIDUAL_IS_INTEGER || length.integer < 0) {
        return residual_unknown();
    }
    int64_t count = character_count(text.text, text.length);
    bool is_all = length.integer >= count;
    uint32_t first = op == RESIDUAL_LEFT || is_all ? 0 : (uint32_t)(count - length.integer);
    return piece(text, first, length.integer);
}
