/* glob.c - see glob.h.
 *
 * The piece in front of the first wildcard stands at the beginning of the text, that behind the last one at its end;
 * of those between, each is taken where it is found first, which leaves most for the others.
 */
#define _GNU_SOURCE /* memmem */
#include <string.h>

#include "residual/characters.h"
#include "residual/form.h"
#include "residual/glob.h"

typedef struct span {
    const uint8_t *at; /* borrowed */
    const uint8_t *end;
} span;

static const uint8_t *wildcard(span pattern) {
    size_t left = (size_t)(pattern.end - pattern.at);
    const uint8_t *found = left == 0 ? NULL : memchr(pattern.at, RESIDUAL_ANY_TEXT, left);
    return found == NULL ? pattern.end : found;
}

/* Return where the piece ends that stands at the beginning of the text; NULL: another text does. */
static const uint8_t *begins(span text, span piece) {
    for (; piece.at < piece.end; piece.at++) {
        if (text.at == text.end) {
            return NULL;
        }
        if (*piece.at == RESIDUAL_ANY_CHARACTER) {
            text.at += character_size(*text.at);
        } else if (*piece.at != *text.at++) {
            return NULL;
        }
    }
    return text.at;
}

static bool ends(span text, span piece) {
    while (piece.at < piece.end) {
        uint8_t last = *--piece.end;
        if (text.at == text.end) {
            return false;
        }
        if (last == RESIDUAL_ANY_CHARACTER) {
            do {
                text.end--;
            } while (!character_begins(*text.end));
        } else if (last != *--text.end) {
            return false;
        }
    }
    return true;
}

/* Return where the first occurrence of the piece ends; NULL: there is none. */
static const uint8_t *behind(span text, span piece) {
    size_t size = (size_t)(piece.end - piece.at);
    size_t left = (size_t)(text.end - text.at);
    if (size == 0) {
        return text.at;
    }
    if (memchr(piece.at, RESIDUAL_ANY_CHARACTER, size) == NULL) {
        const uint8_t *found = left < size ? NULL : memmem(text.at, left, piece.at, size);
        return found == NULL ? NULL : found + size;
    }
    for (; text.at < text.end; text.at += character_size(*text.at)) {
        const uint8_t *end = begins(text, piece);
        if (end != NULL) {
            return end;
        }
    }
    return NULL;
}

bool residual_glob(const uint8_t *text, uint32_t length, const uint8_t *pattern, uint32_t pattern_length) {
    span left = {text, text + length};
    span rest = {pattern, pattern + pattern_length};
    const uint8_t *star = wildcard(rest);
    left.at = begins(left, (span){rest.at, star});
    if (left.at == NULL || star == rest.end) {
        return left.at == left.end;
    }
    while (true) {
        rest.at = star + 1;
        star = wildcard(rest);
        if (star == rest.end) {
            return ends(left, rest);
        }
        left.at = behind(left, (span){rest.at, star});
        if (left.at == NULL) {
            return false;
        }
    }
}
