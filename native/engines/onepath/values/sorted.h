/* sorted.h - the constants of order, sorted, in chunks: each with the first bytes of its text beside its id, so that a
 * search seldom looks at a text and an insertion moves a chunk at most.
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
typedef struct tamis_sorted_chunk {
    uint64_t *words;
    uint16_t count;
    uint16_t capacity;
} tamis_sorted_chunk;

typedef struct tamis_sorted {
    tamis_sorted_chunk *chunks; /* owned */
    uint64_t *lasts;            /* owned: by chunk, its last word */
    uint32_t chunk_count;
    uint32_t capacity; /* of the chunks */
    uint32_t last_capacity;
    uint32_t count;  /* of constants */
    bool of_numbers; /* the texts are those of tamis_number_bytes */
} tamis_sorted;

/* A place in the order, which may lie behind the last constant: then `chunk` is chunk_count and `at` 0. */
typedef struct tamis_sorted_place {
    uint32_t chunk;
    uint32_t at;
} tamis_sorted_place;

static inline uint32_t *tamis_sorted_ids(const tamis_sorted_chunk *chunk) {
    return (uint32_t *)(chunk->words + chunk->capacity);
}

/* The constants stand in a tamis_strings, which is passed for their texts. */
typedef struct tamis_strings tamis_strings;

void tamis_sorted_clear(tamis_sorted *sorted, tm_memory *memory);

/* The first constant that is not below the text; `*is_there`: it is the text. */
tamis_sorted_place tamis_sorted_find(const tamis_strings *strings, const uint8_t *bytes, uint32_t length,
                                     bool *is_there);

/* Of numbers, by the float next to one: the first constant that is above it. false: the words of some are that float,
 * and their texts have to be looked at. */
bool tamis_sorted_find_float(const tamis_sorted *sorted, double near, tamis_sorted_place *place);

/* The ids at a place, before and behind it; TM_NO_STRING: there is none. */
uint32_t tamis_sorted_at(const tamis_sorted *sorted, tamis_sorted_place place);
uint32_t tamis_sorted_before(const tamis_sorted *sorted, tamis_sorted_place place);
uint32_t tamis_sorted_behind(const tamis_sorted *sorted, tamis_sorted_place place);

/* Insert the constant `id`, which is not there; `*place` is where it stands now. false: no memory, nothing changed. */
bool tamis_sorted_insert(tamis_strings *strings, uint32_t id, tamis_sorted_place *place);
/* Remove the constant `id`, which is there. Never fails. */
void tamis_sorted_remove(tamis_strings *strings, uint32_t id);

int tamis_sorted_validate(const tamis_strings *strings, const char **reason);

#endif
