/* sorted.c - searches and changes the sorted constants. Law: as in sorted.h. */
#include "engines/onepath/values/sorted.h"

#include "base/grow.h"
#include "engines/onepath/values/strings.h"

#define ROWS_MIN 8U
#define ROWS_STEP 32U                         /* growth of a chunk: it wastes 16 rows on average */
#define ROWS_MERGED_MAX (SORTED_ROWS_MAX / 2) /* of two neighbours that are merged: half a chunk stays free */
#define ROW_BYTES (sizeof(uint64_t) + sizeof(uint32_t))
#define SIGN (UINT64_C(1) << 63)

/* ---- words ---- */

static uint64_t big_endian(const uint8_t *bytes, uint32_t length) {
    uint64_t word = 0;
    memcpy(&word, bytes, length < sizeof word ? length : sizeof word);
    return __builtin_bswap64(word);
}

/* Return the bits of a float in an order that rises with it. */
static uint64_t rising_bits(double real) {
    uint64_t bits;
    memcpy(&bits, &real, sizeof bits);
    return bits & SIGN ? ~bits : bits | SIGN;
}

/* Return the word of onepath_number_bytes: the float nearest to the number, as bits that rise with it. A real has those
 * bits in its lower half except for the sign (number.c); an integer has none there. */
static uint64_t word_of_number(const uint8_t *bytes) {
    uint64_t high = big_endian(bytes, sizeof high);
    uint64_t low = big_endian(bytes + sizeof high, sizeof low);
    if (low != SIGN) {
        return high & SIGN ? low | SIGN : low & ~SIGN;
    }
    return rising_bits((double)(int64_t)(high ^ SIGN));
}

static uint64_t word_of(const onepath_sorted *sorted, const uint8_t *bytes, uint32_t length) {
    return sorted->of_numbers ? word_of_number(bytes) : big_endian(bytes, length);
}

/* ---- searches ---- */

/* The text of a search. */
typedef struct wanted {
    const onepath_string *records;
    const uint8_t *bytes;
    uint64_t word;
    uint32_t length;
} wanted;

static int compare_to(const wanted *text, const onepath_string *string) {
    uint32_t least = string->length < text->length ? string->length : text->length;
    int order = memcmp(onepath_string_text(string), text->bytes, least);
    return order != 0 ? order : (string->length > text->length) - (string->length < text->length);
}

/* Return the number of words below the given one, by halves that differ only in their start: no branch depends on the
 * result of a comparison. */
static inline uint32_t words_below(const uint64_t *words, uint32_t count, uint64_t word) {
    const uint64_t *at = words;
    for (size_t left = count; left > 1; left -= left / 2) {
        at += left / 2 & -(size_t)(at[left / 2 - 1] < word);
    }
    return (uint32_t)(at - words) + (count > 0 && *at < word);
}

static int compare_row(const wanted *text, const onepath_sorted_chunk *chunk, uint32_t at) {
    return compare_to(text, &text->records[onepath_sorted_ids(chunk)[at]]);
}

/* Return the first row from `first` to `end` that is not below the text; all of them have the word of the text. */
static uint32_t find_among_equals(const wanted *text, const onepath_sorted_chunk *chunk, uint32_t first, uint32_t end) {
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        bool is_below = compare_row(text, chunk, middle) < 0;
        first = is_below ? middle + 1 : first;
        end = is_below ? end : middle;
    }
    return first;
}

/* Return the first row of the chunk that is not below the text. */
static uint32_t find_row(const wanted *text, const onepath_sorted_chunk *chunk) {
    uint32_t first = words_below(chunk->words, chunk->count, text->word);
    if (first == chunk->count || chunk->words[first] != text->word) {
        return first;
    }
    uint32_t end = first + words_below(chunk->words + first, chunk->count - first, text->word + 1);
    end = text->word == UINT64_MAX ? chunk->count : end;
    return find_among_equals(text, chunk, first, end);
}

/* Return the first chunk whose last constant is not below the text. */
static uint32_t find_chunk(const onepath_sorted *sorted, const wanted *text) {
    uint32_t first = words_below(sorted->lasts, sorted->chunk_count, text->word);
    uint32_t end = first;
    for (uint32_t step = 1; end < sorted->chunk_count && sorted->lasts[end] == text->word; step *= 2) {
        end = end + step < sorted->chunk_count ? end + step : sorted->chunk_count;
    }
    while (first < end) { /* chunks that end with the word of the text */
        uint32_t middle = first + (end - first) / 2;
        const onepath_sorted_chunk *chunk = &sorted->chunks[middle];
        bool is_below = sorted->lasts[middle] == text->word && compare_row(text, chunk, chunk->count - 1U) < 0;
        first = is_below ? middle + 1 : first;
        end = is_below ? end : middle;
    }
    return first;
}

static wanted wanted_of(const onepath_strings *strings, const uint8_t *bytes, uint32_t length) {
    return (wanted){strings->records, bytes, word_of(&strings->sorted, bytes, length), length};
}

onepath_sorted_place onepath_sorted_find(const onepath_strings *strings, const uint8_t *bytes, uint32_t length,
                                         bool *is_there) {
    const onepath_sorted *sorted = &strings->sorted;
    wanted text = wanted_of(strings, bytes, length);
    onepath_sorted_place place = {find_chunk(sorted, &text), 0};
    *is_there = false;
    if (place.chunk < sorted->chunk_count) {
        const onepath_sorted_chunk *chunk = &sorted->chunks[place.chunk];
        place.at = find_row(&text, chunk);
        *is_there = chunk->words[place.at] == text.word && compare_row(&text, chunk, place.at) == 0;
    }
    return place;
}

/* ---- neighbours ---- */

bool onepath_sorted_find_float(const onepath_sorted *sorted, double near, onepath_sorted_place *place) {
    uint64_t word = rising_bits(near);
    uint32_t chunk = words_below(sorted->lasts, sorted->chunk_count, word);
    *place = (onepath_sorted_place){chunk, 0};
    if (chunk == sorted->chunk_count) {
        return true;
    }
    const onepath_sorted_chunk *rows = &sorted->chunks[chunk];
    place->at = words_below(rows->words, rows->count, word);
    return rows->words[place->at] != word;
}

uint32_t onepath_sorted_at(const onepath_sorted *sorted, onepath_sorted_place place) {
    return place.chunk == sorted->chunk_count ? TM_NO_STRING
                                              : onepath_sorted_ids(&sorted->chunks[place.chunk])[place.at];
}

uint32_t onepath_sorted_before(const onepath_sorted *sorted, onepath_sorted_place place) {
    if (place.at > 0) {
        return onepath_sorted_ids(&sorted->chunks[place.chunk])[place.at - 1];
    }
    if (place.chunk == 0) {
        return TM_NO_STRING;
    }
    const onepath_sorted_chunk *chunk = &sorted->chunks[place.chunk - 1];
    return onepath_sorted_ids(chunk)[chunk->count - 1];
}

uint32_t onepath_sorted_behind(const onepath_sorted *sorted, onepath_sorted_place place) {
    bool is_last = place.at + 1 == sorted->chunks[place.chunk].count;
    return onepath_sorted_at(sorted, is_last ? (onepath_sorted_place){place.chunk + 1, 0}
                                             : (onepath_sorted_place){place.chunk, place.at + 1});
}

/* ---- chunks ---- */

static void free_rows(tm_memory *memory, onepath_sorted_chunk *chunk) {
    TM_DELETE(memory, TM_HOT, chunk->words, uint8_t, ROW_BYTES * chunk->capacity);
}

/* Move rows [from, from + count) of a chunk to `to` in a chunk, which may be the same one. */
static void move_rows(onepath_sorted_chunk *into, uint32_t to, const onepath_sorted_chunk *chunk, uint32_t from,
                      uint32_t count) {
    memmove(into->words + to, chunk->words + from, sizeof *chunk->words * count);
    memmove(onepath_sorted_ids(into) + to, onepath_sorted_ids(chunk) + from, sizeof(uint32_t) * count);
}

/* Give a chunk room for `capacity` rows, no fewer than it has; false if out of memory, then nothing changed. */
static bool set_room(tm_memory *memory, onepath_sorted_chunk *chunk, uint32_t capacity) {
    onepath_sorted_chunk fresh = {(uint64_t *)(void *)TM_NEW(memory, TM_HOT, uint8_t, ROW_BYTES *capacity),
                                  chunk->count, (uint16_t)capacity};
    if (fresh.words == NULL) {
        return false;
    }
    if (chunk->words != NULL) {
        move_rows(&fresh, 0, chunk, 0, chunk->count);
        free_rows(memory, chunk);
    }
    *chunk = fresh;
    return true;
}

/* Return the next capacity; small chunks grow by half, as most tables have few ordered constants. */
static uint32_t next_room(uint32_t capacity) {
    uint32_t by = capacity / 2 < ROWS_STEP ? capacity / 2 : ROWS_STEP;
    uint32_t next = capacity + (by < ROWS_MIN ? ROWS_MIN : by);
    return next < SORTED_ROWS_MAX ? next : SORTED_ROWS_MAX;
}

static void note_last(onepath_sorted *sorted, uint32_t at) {
    const onepath_sorted_chunk *chunk = &sorted->chunks[at];
    sorted->lasts[at] = chunk->words[chunk->count - 1];
}

static bool reserve_chunk(onepath_sorted *sorted, tm_memory *memory) {
    uint32_t wanted = sorted->chunk_count + 1;
    return tm_grow(memory, TM_HOT, &sorted->chunks, sizeof *sorted->chunks, &sorted->capacity, wanted) &&
           tm_grow(memory, TM_HOT, &sorted->lasts, sizeof *sorted->lasts, &sorted->last_capacity, wanted);
}

static void put_chunk(onepath_sorted *sorted, uint32_t at, onepath_sorted_chunk chunk) {
    uint32_t behind = sorted->chunk_count - at;
    memmove(sorted->chunks + at + 1, sorted->chunks + at, sizeof chunk * behind);
    memmove(sorted->lasts + at + 1, sorted->lasts + at, sizeof *sorted->lasts * behind);
    sorted->chunks[at] = chunk;
    sorted->chunk_count++;
}

static void drop_chunk(onepath_sorted *sorted, tm_memory *memory, uint32_t at) {
    free_rows(memory, &sorted->chunks[at]);
    uint32_t behind = --sorted->chunk_count - at;
    memmove(sorted->chunks + at, sorted->chunks + at + 1, sizeof *sorted->chunks * behind);
    memmove(sorted->lasts + at, sorted->lasts + at + 1, sizeof *sorted->lasts * behind);
}

/* Split a full chunk before `place`, which moves with its row: in halves, or after its last row, where rising constants
 * are added. false if out of memory, then nothing changed. */
static bool split(onepath_sorted *sorted, tm_memory *memory, onepath_sorted_place *place) {
    onepath_sorted_chunk upper = {NULL, 0, 0};
    uint32_t kept = place->at == SORTED_ROWS_MAX ? SORTED_ROWS_MAX : SORTED_ROWS_MAX / 2;
    uint32_t moved = SORTED_ROWS_MAX - kept;
    if (!reserve_chunk(sorted, memory) || !set_room(memory, &upper, moved == 0 ? ROWS_STEP : moved + ROWS_STEP)) {
        return false;
    }
    onepath_sorted_chunk *lower = &sorted->chunks[place->chunk];
    move_rows(&upper, 0, lower, kept, moved);
    upper.count = (uint16_t)moved;
    lower->count = (uint16_t)kept;
    set_room(memory, lower, moved == 0 ? kept : kept + ROWS_STEP); /* on failure it stays larger */
    note_last(sorted, place->chunk);
    put_chunk(sorted, place->chunk + 1, upper);
    if (moved > 0) {
        note_last(sorted, place->chunk + 1);
    }
    if (place->at > kept || moved == 0) {
        *place = (onepath_sorted_place){place->chunk + 1, place->at - kept};
    }
    return true;
}

/* Make room for a row at `*place`, which moves if a chunk is split; false if out of memory. */
static bool make_room(onepath_sorted *sorted, tm_memory *memory, onepath_sorted_place *place) {
    if (sorted->chunk_count == 0) {
        onepath_sorted_chunk first = {NULL, 0, 0};
        if (!reserve_chunk(sorted, memory) || !set_room(memory, &first, ROWS_MIN)) {
            return false;
        }
        put_chunk(sorted, 0, first);
        return true;
    }
    if (place->chunk == sorted->chunk_count) {
        *place = (onepath_sorted_place){place->chunk - 1, sorted->chunks[place->chunk - 1].count};
    }
    onepath_sorted_chunk *chunk = &sorted->chunks[place->chunk];
    if (chunk->count < chunk->capacity) {
        return true;
    }
    return chunk->capacity < SORTED_ROWS_MAX ? set_room(memory, chunk, next_room(chunk->capacity))
                                             : split(sorted, memory, place);
}

/* Merge a chunk of few rows with the one before or after it; out of memory it stays. */
static void merge(onepath_sorted *sorted, tm_memory *memory, uint32_t at) {
    uint32_t first = at > 0 ? at - 1 : at;
    if (first + 1 >= sorted->chunk_count) {
        return;
    }
    onepath_sorted_chunk *lower = &sorted->chunks[first];
    const onepath_sorted_chunk *upper = &sorted->chunks[first + 1];
    uint32_t rows = (uint32_t)lower->count + upper->count;
    if (rows > ROWS_MERGED_MAX || (lower->capacity < rows && !set_room(memory, lower, rows))) {
        return;
    }
    move_rows(lower, lower->count, upper, 0, upper->count);
    lower->count = (uint16_t)rows;
    note_last(sorted, first);
    drop_chunk(sorted, memory, first + 1);
}

/* ---- insertion and removal ---- */

bool onepath_sorted_insert(onepath_strings *strings, uint32_t id, onepath_sorted_place *place) {
    onepath_sorted *sorted = &strings->sorted;
    const onepath_string *string = &strings->records[id];
    bool is_there;
    *place = onepath_sorted_find(strings, onepath_string_text(string), string->length, &is_there);
    if (!make_room(sorted, strings->memory, place)) {
        return false;
    }
    onepath_sorted_chunk *chunk = &sorted->chunks[place->chunk];
    move_rows(chunk, place->at + 1, chunk, place->at, chunk->count - place->at);
    chunk->words[place->at] = word_of(sorted, onepath_string_text(string), string->length);
    onepath_sorted_ids(chunk)[place->at] = id;
    chunk->count++;
    note_last(sorted, place->chunk);
    sorted->count++;
    return true;
}

void onepath_sorted_remove(onepath_strings *strings, uint32_t id) {
    onepath_sorted *sorted = &strings->sorted;
    const onepath_string *string = &strings->records[id];
    bool is_there;
    onepath_sorted_place place = onepath_sorted_find(strings, onepath_string_text(string), string->length, &is_there);
    onepath_sorted_chunk *chunk = &sorted->chunks[place.chunk];
    chunk->count--;
    sorted->count--;
    move_rows(chunk, place.at, chunk, place.at + 1, chunk->count - place.at);
    if (chunk->count == 0) {
        drop_chunk(sorted, strings->memory, place.chunk);
        return;
    }
    note_last(sorted, place.chunk);
    if (chunk->count + 2 * ROWS_STEP <= chunk->capacity) {
        set_room(strings->memory, chunk, chunk->count + ROWS_STEP / 2); /* on failure it stays larger */
        merge(sorted, strings->memory, place.chunk);
    }
}

void onepath_sorted_clear(onepath_sorted *sorted, tm_memory *memory) {
    for (uint32_t at = 0; at < sorted->chunk_count; at++) {
        free_rows(memory, &sorted->chunks[at]);
    }
    TM_DELETE(memory, TM_HOT, sorted->chunks, onepath_sorted_chunk, sorted->capacity);
    TM_DELETE(memory, TM_HOT, sorted->lasts, uint64_t, sorted->last_capacity);
    *sorted = (onepath_sorted){.of_numbers = sorted->of_numbers};
}

/* ---- validation ---- */

static bool is_row_good(const onepath_strings *strings, const onepath_sorted_chunk *chunk, uint32_t row,
                        uint32_t before) {
    const onepath_string *string = &strings->records[onepath_sorted_ids(chunk)[row]];
    if (string->ordered == 0 ||
        chunk->words[row] != word_of(&strings->sorted, onepath_string_text(string), string->length)) {
        return false;
    }
    wanted text = wanted_of(strings, onepath_string_text(string), string->length);
    if (before == TM_NO_STRING) {
        return true;
    }
    const onepath_string *below = &strings->records[before];
    return word_of(&strings->sorted, onepath_string_text(below), below->length) <= text.word &&
           compare_to(&text, below) < 0;
}

int onepath_sorted_validate(const onepath_strings *strings, const char **reason) {
    const onepath_sorted *sorted = &strings->sorted;
    uint32_t count = 0;
    uint32_t before = TM_NO_STRING;
    for (uint32_t at = 0; at < sorted->chunk_count; at++) {
        const onepath_sorted_chunk *chunk = &sorted->chunks[at];
        if (chunk->count == 0 || chunk->count > chunk->capacity || chunk->capacity > SORTED_ROWS_MAX ||
            sorted->lasts[at] != chunk->words[chunk->count - 1]) {
            *reason = "a chunk of constants is empty, too full, or its last word is not the recorded one";
            return TM_MISUSED;
        }
        for (uint32_t row = 0; row < chunk->count; row++) {
            if (!is_row_good(strings, chunk, row, before)) {
                *reason = "constants are out of order, or the word of one does not match its text";
                return TM_MISUSED;
            }
            before = onepath_sorted_ids(chunk)[row];
        }
        count += chunk->count;
    }
    if (count != sorted->count) {
        *reason = "the count of constants of order is wrong";
        return TM_MISUSED;
    }
    return TM_OK;
}
