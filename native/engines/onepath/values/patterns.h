/* patterns.h - finds the prefixes, suffixes and substrings of the table in a value: one pass over its bytes.
 *
 * Law: a byte of a value costs a bounded number of steps on average, for any set of patterns. Patterns are in one trie
 * with failure links: the state after i bytes is the longest trie path that ends there. Links are computed when a pass
 * first needs them and are valid until the set of patterns changes, so that adding and removing a pattern touches its
 * own path alone. With the links a node caches the target of the last byte that is not its first child's: most bytes
 * then cost one read of one node.
 *
 *     state s ends at byte i:  contains-patterns that end here = those of out(s), and on along `dict`
 *     after the last byte:     suffix-patterns = those of s, fail(s), fail(fail(s)), ...
 *     prefix-patterns:         on the path from the root, as long as no failure link was taken
 *
 * Nodes are many and small. What only the end of a pattern needs is in an *end*; the first child is in the node, the
 * others in a hash; the root has a table of all 256.
 *
 *     "inter", "intra":   root - i - n - t -+- e - r {end: inter}      t: child e in the node, r in the hash
 *                                           +- r - a {end: intra}
 *
 * A pattern's id is 4 * end + ONEPATH_PREFIX, ONEPATH_SUFFIX or ONEPATH_CONTAINS.
 */
#ifndef TM_ONEPATH_PATTERNS_H
#define TM_ONEPATH_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/idset.h"
#include "base/work.h"
#include "tm.h"

#define ONEPATH_PREFIX 0U
#define ONEPATH_SUFFIX 1U
#define ONEPATH_CONTAINS 2U
#define ONEPATH_PATTERN_KINDS 3U
#define TM_NO_PATTERN UINT32_MAX
#define ONEPATH_NO_NODE UINT32_MAX       /* no child, or nothing cached */
#define ONEPATH_PATTERN_NODES (1U << 28) /* what an edge has bits for */

/* A trie node: 24 bytes for each byte of text that patterns do not share. */
typedef struct onepath_pattern_node {
    uint32_t child;   /* the first one, by `child_byte`, or ONEPATH_NO_NODE; of a free node: the next free one, or 0 */
    uint32_t other;   /* target of `other_byte`, by links or not; ONEPATH_NO_NODE: none cached */
    uint32_t fail;    /* the longest other path that is a suffix of this one; valid, as is `other`, with `version` */
    uint32_t out;     /* the end here, if it has `kinds`; otherwise the nearest contains-end on the fail chain, or 0 */
    uint32_t version; /* of the links; invalid unless it is the trie's */
    uint8_t child_byte;
    uint8_t other_byte;
    uint8_t forks; /* further children, in `edges` */
    uint8_t kinds; /* bit ONEPATH_x: a pattern of that kind ends here */
} onepath_pattern_node;

_Static_assert(sizeof(onepath_pattern_node) == 24, "there is one for nearly every byte of text");

/* The part of an end that a match reads. */
typedef struct onepath_pattern_end {
    uint32_t dict;  /* the next contains-end on the fail chain, or 0; valid with its node's version */
    uint32_t stamp; /* the last pass that reported its contains-pattern */
} onepath_pattern_end;

/* The part of an end that a match does not read. */
typedef struct onepath_pattern_use {
    uint32_t references[ONEPATH_PATTERN_KINDS]; /* by kind */
    uint32_t node;                              /* of a free end: the next free one */
    uint32_t text;                              /* block in `texts`; 0: the empty pattern, or a free end */
    uint32_t length;
} onepath_pattern_use;

typedef struct onepath_patterns {
    tm_memory *memory; /* borrowed */
    tm_hash_key key;
    onepath_pattern_node *nodes; /* [0] is the root: the empty pattern */
    onepath_pattern_end *ends;   /* [0] unused */
    onepath_pattern_use *uses;   /* by end; cold */
    uint32_t *first;             /* by byte: the root's child, or 0; NULL if there is no pattern */
    tm_arena texts;              /* cold: the patterns' bytes */
    tm_idset edges; /* to further children: words node << 36 | byte << 28 | child, by the hash of the first two */
    uint32_t node_count;
    uint32_t node_capacity;
    uint32_t node_free; /* 0: none */
    uint32_t node_live; /* without the root */
    uint32_t end_count;
    uint32_t end_capacity;
    uint32_t use_capacity;
    uint32_t end_free; /* 0: none */
    uint32_t version;  /* changes with the set of patterns; never 0 */
    uint32_t stamp;
    uint32_t count;                          /* distinct patterns */
    uint32_t of_kind[ONEPATH_PATTERN_KINDS]; /* of these */
    uint64_t hops;                           /* reads beyond a node's two known bytes, in all passes */
} onepath_patterns;

void onepath_patterns_init(onepath_patterns *patterns, tm_memory *memory);
void onepath_patterns_clear(onepath_patterns *patterns);

/* Return the id of the pattern and add a reference; TM_NO_PATTERN if out of memory, then nothing changed. */
uint32_t onepath_patterns_acquire(onepath_patterns *patterns, const uint8_t *bytes, uint32_t length, unsigned kind);
/* Release a reference; the last one frees the id. */
void onepath_patterns_release(onepath_patterns *patterns, uint32_t id);

/* Copy the pattern's text (at most TM_PATTERN_BYTES_MAX) to `out`; returns its length. */
uint32_t onepath_patterns_text(const onepath_patterns *patterns, uint32_t id, uint8_t *out);

static inline uint32_t onepath_patterns_length(const onepath_patterns *patterns, uint32_t id) {
    return patterns->uses[id >> 2].length;
}

/* true if every value that satisfies the first pattern satisfies the other; false unless both are prefixes or both
 * suffixes. */
bool onepath_patterns_has(const onepath_patterns *patterns, uint32_t id, uint32_t other);

/* Note one search for each edge in the hash. */
void onepath_patterns_probes(const onepath_patterns *patterns, tm_probes *probes);

/* ---- for patterns.c and its companions ---- */

static inline uint64_t onepath_edge_key(uint32_t node, uint8_t byte) {
    return (uint64_t)node << 8 | byte;
}

/* Return the hash of an edge. Nodes are numbered by this file, so that outside input chooses few keys and one product
 * is enough. */
static inline uint64_t onepath_edge_hash(const onepath_patterns *patterns, uint64_t key) {
    return tm_fold(key ^ patterns->key.low, patterns->key.factor);
}

/* Return the child of an edge in the hash, or ONEPATH_NO_NODE. */
static inline uint32_t onepath_edge_child(const onepath_patterns *patterns, uint32_t node, uint8_t byte) {
    uint64_t key = onepath_edge_key(node, byte);
    tm_idset_search at = tm_idset_start(&patterns->edges, onepath_edge_hash(patterns, key));
    for (uint64_t edge; (edge = tm_idset_next_word(&at)) != 0;) {
        if (edge >> 28 == key) {
            return (uint32_t)edge & (ONEPATH_PATTERN_NODES - 1);
        }
    }
    return ONEPATH_NO_NODE;
}

/* Return the child of `node` by `byte`, or ONEPATH_NO_NODE. The trie must not be empty. */
static inline uint32_t onepath_pattern_child(const onepath_patterns *patterns, uint32_t node, uint8_t byte) {
    if (node == 0) {
        return patterns->first[byte] != 0 ? patterns->first[byte] : ONEPATH_NO_NODE;
    }
    const onepath_pattern_node *at = &patterns->nodes[node];
    if (at->child != ONEPATH_NO_NODE && at->child_byte == byte) {
        return at->child;
    }
    return at->forks > 0 ? onepath_edge_child(patterns, node, byte) : ONEPATH_NO_NODE;
}

#endif
