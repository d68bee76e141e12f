/* sorted.h - the ordered constants, sorted, in chunks: each id beside the first bytes of its text.
 *
 * Law: a search rarely reads a text, and an insertion moves a chunk at most. Words never fall from one constant to the
 * next, and constants of one word are in the order of their texts (SORTED_ROWS_MAX a chunk, none empty; two neighbours
 * of few rows are merged). The word of a text is its first eight bytes; the word of a number, whose bytes begin with
 * its integer part alone, is the float nearest to it.
 *
 *     lasts     | "internet" |            "market"            | "zebra"      the last word of each chunk
 *     words     | inte inte  | late  late  logs  mail  market | ...          eight bytes each, as a number
 *     ids       |  7    3    |  9     1     12    4      8    | ...
 */
#ifndef TM_ONEPATH_SORTED_H
#define TM_ONEPATH_SORTED_H

#include <stdbool.h>

#include "base/memory.h"
#include "tm.h"

#define SORTED_ROWS_MAX 256U /* an insertion moves 3 KB at most, and a search ends in a chunk that fits in a page */

/* One owned block: the words, then the ids. */
typedef struct onepath_sorted_chunk {
    uint64_t *words;
    uint16_t count;
    uint16_t capacity;
} onepath_sorted_chunk;

typedef struct onepath_sorted {
    onepath_sorted_chunk *chunks; /* owned */
    uint64_t *lasts;              /* owned: by chunk, its last word */
    uint32_t chunk_count;
    uint32_t capacity; /* of the chunks */
    uint32_t last_capacity;
    uint32_t count;  /* of constants */
    bool of_numbers; /* the texts are those of onepath_number_bytes */
} onepath_sorted;

/* A place in the order; behind the last constant `chunk` is chunk_count and `at` 0. */
typedef struct onepath_sorted_place {
    uint32_t chunk;
    uint32_t at;
} onepath_sorted_place;

static inline uint32_t *onepath_sorted_ids(const onepath_sorted_chunk *chunk) {
    return (uint32_t *)(chunk->words + chunk->capacity);
}

/* The constants are in an onepath_strings, which has their texts. */
typedef struct onepath_strings onepath_strings;

void onepath_sorted_clear(onepath_sorted *sorted, tm_memory *memory);

/* Return the place of the first constant that is not below the text; `*is_there`: it is the text. */
onepath_sorted_place onepath_sorted_find(const onepath_strings *strings, const uint8_t *bytes, uint32_t length,
                                         bool *is_there);

/* Find the place of the first number above a float. false if some numbers have that float as their word, and their
 * texts have to be compared. */
bool onepath_sorted_find_float(const onepath_sorted *sorted, double near, onepath_sorted_place *place);

/* Return the ids at a place, before and behind it; TM_NO_STRING if there is none. */
uint32_t onepath_sorted_at(const onepath_sorted *sorted, onepath_sorted_place place);
uint32_t onepath_sorted_before(const onepath_sorted *sorted, onepath_sorted_place place);
uint32_t onepath_sorted_behind(const onepath_sorted *sorted, onepath_sorted_place place);

/* Insert the constant `id`, which must not be there; `*place` is its place. false if out of memory, then nothing
 * changed. */
bool onepath_sorted_insert(onepath_strings *strings, uint32_t id, onepath_sorted_place *place);
/* Remove the constant `id`, which must be there. Never fails. */
void onepath_sorted_remove(onepath_strings *strings, uint32_t id);

int onepath_sorted_validate(const onepath_strings *strings, const char **reason);

#endif
