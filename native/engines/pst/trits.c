/* trits.c - sets of positions. Law: see trits.h. */
#include "engines/pst/trits.h"

#include <string.h>

void pst_trits_init(pst_trits *trits) {
    *trits = (pst_trits){.single = PST_POSITION_NONE};
}

static void *take(pst_room *room, tm_heat heat, size_t size) {
    void *block = tm_alloc_counted(room->memory, heat, size);
    room->bytes += block != NULL ? tm_memory_charge(size) : 0;
    return block;
}

static void drop(pst_room *room, tm_heat heat, void *block, size_t size) {
    room->bytes -= block != NULL ? tm_memory_charge(size) : 0;
    tm_free_counted(room->memory, heat, block, size);
}

void pst_trits_forget_counts(pst_trits *trits, pst_room *room) {
    drop(room, TM_COLD, trits->counts, sizeof *trits->counts * trits->capacity * 64U);
    trits->counts = NULL;
}

void pst_trits_free(pst_trits *trits, pst_room *room) {
    pst_trits_forget_counts(trits, room);
    drop(room, TM_HOT, trits->words, sizeof *trits->words * trits->capacity);
    pst_trits_init(trits);
}

/* Return the words for the position: 1, 2, 4, 8 or 16. */
static uint16_t words_for(uint32_t position) {
    uint16_t words = 1;
    while (words * 64U <= position) {
        words = (uint16_t)(words * 2);
    }
    return words;
}

/* Enlarge both blocks, or neither. TM_NO_MEMORY: unchanged. */
static int widen(pst_trits *trits, pst_room *room, uint16_t capacity, bool counted) {
    uint64_t *words = take(room, TM_HOT, sizeof *words * capacity);
    uint32_t *counts = counted ? take(room, TM_COLD, sizeof *counts * capacity * 64U) : NULL;
    if (words == NULL || (counted && counts == NULL)) {
        drop(room, TM_HOT, words, sizeof *words * capacity);
        return TM_NO_MEMORY;
    }
    if (trits->words != NULL) {
        memcpy(words, trits->words, sizeof *words * trits->capacity);
    } else if (trits->single != PST_POSITION_NONE) {
        tm_bit_set(words, trits->single);
    }
    if (trits->counts != NULL && counts != NULL) {
        memcpy(counts, trits->counts, sizeof *counts * trits->capacity * 64U);
    }
    pst_trits_free(trits, room);
    *trits = (pst_trits){words, counts, capacity, PST_POSITION_NONE};
    return TM_OK;
}

int pst_trits_reserve(pst_trits *trits, pst_room *room, uint32_t position, bool counted) {
    bool is_single = trits->single == PST_POSITION_NONE || trits->single == position;
    if (trits->words == NULL && is_single && !counted) {
        return TM_OK;
    }
    uint32_t highest = position;
    if (trits->words == NULL && trits->single != PST_POSITION_NONE && trits->single > highest) {
        highest = trits->single;
    }
    uint16_t capacity = words_for(highest);
    capacity = capacity < trits->capacity ? trits->capacity : capacity;
    counted |= trits->counts != NULL;
    if (capacity > trits->capacity) {
        return widen(trits, room, capacity, counted);
    }
    if (counted && trits->counts == NULL) {
        trits->counts = take(room, TM_COLD, sizeof *trits->counts * capacity * 64U);
        return trits->counts != NULL ? TM_OK : TM_NO_MEMORY;
    }
    return TM_OK;
}

void pst_trits_set(pst_trits *trits, uint32_t position) {
    if (trits->words == NULL) {
        trits->single = (uint16_t)position;
    } else {
        tm_bit_set(trits->words, position);
    }
}

void pst_trits_clear(pst_trits *trits, uint32_t position) {
    if (trits->words == NULL) {
        trits->single = PST_POSITION_NONE;
    } else {
        tm_bit_clear(trits->words, position);
    }
}
