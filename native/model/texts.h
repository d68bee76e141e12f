/* texts.h - a few texts that do not change, found by their bytes: names, and values of enumerations.
 *
 * Law: there are at most TEXTS_MAX; the number of a text is its position. The caller keeps the bytes in place.
 */
#ifndef TM_TEXTS_H
#define TM_TEXTS_H

#include <string.h>

#include "base/memory.h"

#define TEXTS_MAX 256U
#define TEXTS_NONE UINT32_MAX

typedef struct tm_text {
    const uint8_t *bytes; /* borrowed */
    uint32_t length;
    tm_head head;
} tm_text;

typedef struct tm_texts {
    tm_text *texts;  /* owned */
    uint16_t *slots; /* owned; a position + 1, or 0 */
    uint32_t count;
    uint32_t capacity;
    uint32_t mask;
} tm_texts;

/* Make room for `count` texts; false: no memory, and nothing must be freed. */
bool tm_texts_new(tm_texts *texts, tm_memory *memory, uint32_t count);
void tm_texts_free(tm_texts *texts, tm_memory *memory);
/* Add the next text; false: it is present. */
bool tm_texts_add(tm_texts *texts, const tm_memory *memory, const uint8_t *bytes, uint32_t length);

static inline bool tm_text_is(const tm_text *text, tm_head head, const uint8_t *bytes, uint32_t length) {
    return text->length == length && text->head.low == head.low && text->head.high == head.high &&
           (length <= TM_INLINE_BYTES || memcmp(text->bytes, bytes, length) == 0);
}

/* Return the position of a text, or TEXTS_NONE. */
static inline uint32_t tm_texts_find(const tm_texts *texts, const tm_memory *memory, const uint8_t *bytes,
                                     uint32_t length) {
    tm_head head = tm_head_of(bytes, length);
    uint64_t slot = tm_hash_headed(head, bytes, length, &memory->key);
    for (;; slot++) {
        uint32_t place = texts->slots[slot & texts->mask];
        if (place == 0) {
            return TEXTS_NONE;
        }
        if (tm_text_is(&texts->texts[place - 1], head, bytes, length)) {
            return place - 1;
        }
    }
}

#endif
