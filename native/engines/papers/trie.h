/* trie.h - all string constants of one attribute in one structure, for all operators.
 *
 * Law: the path of branches to a constant spells its beginning; the rest, once no other constant shares it, is compared
 * with the string itself. Every branch has two constants or more below it, so the shape follows from the set of
 * constants alone. Here for "inter", "internet" and "intra":
 *
 *     i - n - t -+- e - r {inter} - n: internet          {..} ends here: a partial match of any longer text
 *                +- r: intra                              : ..  a tail, compared in one step
 *
 * It is the extended ternary search trie of paper 004 with the three links of a branch stored as a sorted array that is
 * searched by halving: an equal order, nothing to rebalance, fewer cache lines. As in the paper, one walk from the
 * first character serves every operator, one from each further character serves `suffix` and `contains`; chains link
 * the constants of < and > (chain.h), and two backtrack functions find where a text enters them. Marks lead to the
 * nearest constant of a kind: each branch has the marks of what is below it. They also keep a walk out of parts that
 * cannot add anything.
 */
#ifndef TM_TRIE_H
#define TM_TRIE_H

#include <string.h>

#include "engines/papers/chain.h"
#include "engines/papers/ordered.h"
#include "engines/papers/text_index.h"

/* Marks of a constant, or of anything at or below a branch. */
#define TM_MARK_LESS 1    /* < and <=: it has links in the upward chain */
#define TM_MARK_GREATER 2 /* >, >= and between: in the downward chain */
#define TM_MARK_CONTAINS 4
#define TM_MARK_SUFFIX 8

/* Operators with a place in every constant. Those of order are in chains, != and `in` are in a list of cells. */
enum { TM_AT_EQ, TM_AT_PREFIX, TM_AT_SUFFIX, TM_AT_CONTAINS, TM_AT_COUNT };

typedef struct tm_constant {
    uint32_t string;          /* interned; 0 for a free one */
    uint32_t at[TM_AT_COUNT]; /* constraints, 0 for none */
    uint32_t cells;           /* the first one, 0 for none */
    uint32_t chained[2];      /* TM_UPWARD, TM_DOWNWARD: the block of its first link, 0 for none */
    uint32_t marks;           /* of a free one: the next free one */
} tm_constant;

/* A further constraint at a constant: != or in. */
typedef struct tm_cell {
    uint32_t constraint;
    uint32_t next; /* of a free cell: the next free one */
    uint32_t op;
} tm_cell;

/* A link leads to a branch, or with this bit to a constant; 0 is none. */
#define TM_LEAF 0x80000000u

/* Most branches have one child or two: those are in the branch itself. */
#define TM_BRANCH_IN_PLACE 2

typedef struct tm_branch {
    union {
        uint32_t in_place[TM_BRANCH_IN_PLACE];
        uint32_t *links; /* owned, when capacity is larger: as many links, then as many bytes */
    };
    uint32_t constant; /* that ends here, or 0 */
    uint32_t parent;   /* branch, 0 at the root; of a free one: the next free one */
    uint16_t count;    /* children, their bytes ascending */
    uint16_t capacity; /* 0 for a free branch */
    uint8_t marks;
    uint8_t bytes_in_place[TM_BRANCH_IN_PLACE];
} tm_branch;

_Static_assert(sizeof(tm_branch) == 24, "small: there is about one for two constants");

/* The arrays that all tries of a table share. */
typedef struct tm_trie_store {
    tm_memory *memory;           /* borrowed, as are the next two */
    const tm_intern *strings;    /* of the constants */
    tm_constraints *constraints; /* of the constants; NULL for names, which have none */
    tm_branch *branches;         /* [0] unused, here and below */
    tm_constant *constants;
    tm_cell *cells;
    tm_blocks blocks;
    uint32_t branch_capacity, branch_count, branch_free;
    uint32_t constant_capacity, constant_count, constant_free;
    uint32_t cell_capacity, cell_count, cell_free;
    uint32_t live; /* constants; without any, the store keeps no memory */
} tm_trie_store;

void tm_trie_store_init(tm_trie_store *store, tm_memory *memory, const tm_intern *strings, tm_constraints *constraints);
void tm_trie_store_free(tm_trie_store *store);

struct tm_text_index {
    tm_trie_store *store; /* borrowed */
    tm_ordered unequal;   /* the constraints of !=, by id: all hold but one */
    tm_chain chains[2];   /* TM_UPWARD, TM_DOWNWARD */
    uint64_t operands;    /* pairs of constant and constraint */
    uint32_t root;        /* link */
    uint32_t contained;   /* constants with TM_MARK_CONTAINS */
};

/* ---- for trie.c and its companions ---- */

/* The end of a walk. */
typedef struct tm_spot {
    uint32_t branch; /* the last one reached, 0 if the root is none */
    uint32_t depth;  /* its depth: the bytes of the text that lead to it */
    uint32_t leaf;   /* the constant below it along the text's next byte, or 0 */
    uint32_t found;  /* `contains` constraints reported */
    bool ended;      /* the text ends at the branch */
} tm_spot;

/* Report `contains`; returns whether it was not found in this message before. */
static inline uint32_t tm_constant_contained(const tm_trie_store *store, uint32_t constant, tm_found *found) {
    uint32_t constraint = store->constants[constant].at[TM_AT_CONTAINS];
    if (constraint == 0 || !tm_held_first_time(&store->constraints->held[constraint], found->message)) {
        return 0;
    }
    tm_found_add(found, constraint);
    return 1;
}

/* true if the text continues with the constant's tail from `depth`; the bytes before must agree. */
static inline bool tm_tail_begins(const tm_interned *string, const uint8_t *text, uint32_t length, uint32_t depth) {
    return string->length <= length && memcmp(string->bytes + depth, text + depth, string->length - depth) == 0;
}

static inline const tm_interned *tm_constant_string(const tm_trie_store *store, uint32_t constant) {
    return &store->strings->entries[store->constants[constant].string];
}

/* Return the probe of a constraint id, by which the trie stores those of !=. */
static inline tm_probe tm_probe_id(uint32_t constraint) {
    tm_probe probe = tm_probe_number((tm_number_key){constraint, 0});
    probe.constraint = constraint;
    return probe;
}

static inline uint32_t *tm_branch_links(tm_branch *branch) {
    return branch->capacity > TM_BRANCH_IN_PLACE ? branch->links : branch->in_place;
}

static inline uint8_t *tm_branch_bytes(tm_branch *branch) {
    return branch->capacity > TM_BRANCH_IN_PLACE ? (uint8_t *)(branch->links + branch->capacity)
                                                 : branch->bytes_in_place;
}

/* Return the index of the first child whose byte is not below `byte`. */
static inline uint32_t tm_branch_seek(tm_branch *branch, uint32_t byte) {
    const uint8_t *bytes = tm_branch_bytes(branch);
    uint32_t low = 0;
    uint32_t high = branch->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (bytes[middle] < byte) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static inline uint32_t tm_branch_child(tm_branch *branch, uint8_t byte) {
    uint32_t index = tm_branch_seek(branch, byte);
    return index < branch->count && tm_branch_bytes(branch)[index] == byte ? tm_branch_links(branch)[index] : 0;
}

static inline uint32_t tm_link_marks(const tm_trie_store *store, uint32_t link) {
    return link & TM_LEAF ? store->constants[link & ~TM_LEAF].marks : store->branches[link].marks;
}

#endif
