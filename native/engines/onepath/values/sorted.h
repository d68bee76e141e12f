/* sorted.h - the constants of order, sorted, in chunks: each with the first bytes of its text beside its id, so that a
 * search rarely looks at a text and an insertion moves a chunk at most.
 *
 *     lasts     | "internet" |            "market"            | "zebra"      the last word of each chunk
 *     words     | inte inte  | late  late  logs  mail  market | ...          eight bytes each, as a number
 *     ids       |  7    3    |  9     1     12    4      8    | ...
 *
 * Law: words never fall from one constant to the next, and constants of one word follow each other as their texts do
 * (SORTED_ROWS_MAX a chunk, none empty; two neighbours of few rows become one). Of a text the word is its first eight
 * bytes; of a number, whose bytes begin with its integer part alone, the float next to it.
 */
#ifndef TM_ONEPATH_SORTED_H
#define TM_ONEPATH_SORTED_H

#include <stdbool.h>

#include "base/memory.h"
#include "tm.h"

#define SORTED_ROWS_MAX 256U /* an insertion moves 3 KB at most, and a search ends in a chunk that fits into a page */

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

/* A place in the order, which may lie behind the last constant: then `chunk` is chunk_count and `at` 0. */
typedef struct onepath_sorted_place {
    uint32_t chunk;
    uint32_t at;
} onepath_sorted_place;

static inline uint32_t *onepath_sorted_ids(const onepath_sorted_chunk *chunk) {
    return (uint32_t *)(chunk->words + chunk->capacity);
}

/* The constants stand in a onepath_strings, which is passed for their texts. */
typedef struct onepath_strings onepath_strings;

void onepath_sorted_clear(onepath_sorted *sorted, tm_memory *memory);

/* The first constant that is not below the text; `*is_there`: it is the text. */
onepath_sorted_place onepath_sorted_find(const onepath_strings *strings, const uint8_t *bytes, uint32_t length,
                                         bool *is_there);

/* Of numbers, by the float next to one: the first constant that is above it. false: the words of some are that float,
 * and their texts have to be looked at. */
bool onepath_sorted_find_float(const onepath_sorted *sorted, double near, onepath_sorted_place *place);

/* The ids at a place, before and behind it; TM_NO_STRING: there is none. */
uint32_t onepath_sorted_at(const onepath_sorted *sorted, onepath_sorted_place place);
uint32_t onepath_sorted_before(const onepath_sorted *sorted, onepath_sorted_place place);
uint32_t onepath_sorted_behind(const onepath_sorted *sorted, onepath_sorted_place place);

/* Insert the constant `id`, which is not there; `*place` is where it stands now. false: no memory, nothing changed. */
bool onepath_sorted_insert(onepath_strings *strings, uint32_t id, onepath_sorted_place *place);
/* Remove the constant `id`, which is there. Never fails. */
void onepath_sorted_remove(onepath_strings *strings, uint32_t id);

int onepath_sorted_validate(const onepath_strings *strings, const char **reason);

#endif
