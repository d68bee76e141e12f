/* trits.h - sets of interfaces of a node: those whose trits of paper 002 are not No, or are Yes.
 *
 * Law: a position is an interface, and the last position stands for all interfaces from there on. A node's trit at a
 * position is No where `some` does not have it, Yes where `sure` has it, and Maybe elsewhere. A set of one position has
 * no block, that of a node with many children counts for each position the children that have it.
 */
#ifndef TM_PST_TRITS_H
#define TM_PST_TRITS_H

#include "base/bits.h"
#include "base/memory.h"
#include "tm.h"

#define PST_POSITIONS 1024U /* 128 bytes a set at most */
#define PST_POSITION_WORDS (PST_POSITIONS / 64)
#define PST_POSITION_NONE PST_POSITIONS

/* Children from which on a node counts by position, and down to which it keeps the counts. */
#define PST_COUNTED_FROM 24U
#define PST_COUNTED_TO 12U

typedef enum { PST_SOME, PST_SURE, PST_TRIT_SETS } pst_trit_set;

typedef struct pst_trits {
    uint64_t *words;   /* owned; NULL: `single` is the whole set */
    uint32_t *counts;  /* owned; by position: children that have it; NULL: not counted */
    uint16_t capacity; /* words */
    uint16_t single;   /* the only position, or PST_POSITION_NONE; undefined if there are words */
} pst_trits;

static inline uint32_t pst_position(uint32_t interface) {
    return interface < PST_POSITIONS - 1 ? interface : PST_POSITIONS - 1;
}

static inline bool pst_trits_has(const pst_trits *trits, uint32_t position) {
    if (trits->words == NULL) {
        return trits->single == position;
    }
    return position / 64 < trits->capacity && tm_bit_at(trits->words, position);
}

/* true if any position of the set is in `live`. */
static inline bool pst_trits_meet(const pst_trits *trits, const uint64_t *live) {
    if (trits->words == NULL) {
        return trits->single != PST_POSITION_NONE && tm_bit_at(live, trits->single);
    }
    uint64_t both = 0;
    for (uint32_t i = 0; i < trits->capacity; i++) {
        both |= trits->words[i] & live[i];
    }
    return both != 0;
}

/* Return word `i` of the set. */
static inline uint64_t pst_trits_word(const pst_trits *trits, uint32_t i) {
    if (trits->words == NULL) {
        bool is_in = trits->single != PST_POSITION_NONE && trits->single / 64 == i;
        return is_in ? UINT64_C(1) << trits->single % 64 : 0;
    }
    return i < trits->capacity ? trits->words[i] : 0;
}

/* The allocator of the blocks of sets, and their total size. */
typedef struct pst_room {
    tm_memory *memory; /* borrowed */
    uint64_t bytes;
} pst_room;

void pst_trits_init(pst_trits *trits);
void pst_trits_free(pst_trits *trits, pst_room *room);

/* Reserve room for `position`, and counts if `counted`: new counts are all zero, and the caller fills them in.
 * TM_NO_MEMORY: the set is unchanged. */
int pst_trits_reserve(pst_trits *trits, pst_room *room, uint32_t position, bool counted);
/* Free the counts. */
void pst_trits_forget_counts(pst_trits *trits, pst_room *room);

/* Set or clear a position that there is room for. */
void pst_trits_set(pst_trits *trits, uint32_t position);
void pst_trits_clear(pst_trits *trits, uint32_t position);

#endif
