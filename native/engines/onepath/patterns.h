/* patterns.h - which of the table's prefixes, suffixes and substrings are in a value: one pass over its bytes.
 *
 * Law: the work is linear in the value whatever the table holds: a trie of all patterns with failure links (the state
 * after i bytes is the longest trie path that ends there). Links are computed when a pass first needs them and kept
 * until the trie changes, so adding and removing a pattern touches its own path alone.
 *
 *     state s ends at byte i:  contains-patterns that end here = those on s, dict(s), dict(dict(s)), ...
 *     after the last byte:     suffix-patterns = those on s, fail(s), fail(fail(s)), ...
 *     prefix-patterns:         on the path from the root, as long as no failure link was taken
 *
 * A pattern's id is 4 * node + TAMIS_PREFIX, TAMIS_SUFFIX or TAMIS_CONTAINS.
 */
#ifndef TM_ONEPATH_PATTERNS_H
#define TM_ONEPATH_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/idset.h"
#include "base/work.h"
#include "tm.h"

#define TAMIS_PREFIX 0U
#define TAMIS_SUFFIX 1U
#define TAMIS_CONTAINS 2U
#define TM_NO_PATTERN UINT32_MAX

typedef struct tamis_pattern_node {
    uint32_t parent;
    uint32_t fail; /* good where link_version is the trie's */
    uint32_t dict; /* nearest node on the fail chain with a contains-pattern, or 0 */
    uint32_t link_version;
    uint32_t stamp; /* the pass that reported this node's contains-pattern last */
    uint8_t byte;
    uint8_t kinds; /* bit TAMIS_x: a pattern of that kind ends here */
    uint16_t depth;
} tamis_pattern_node;

/* What a match need not read. */
typedef struct tamis_pattern_use {
    uint32_t references[3]; /* by kind */
    uint32_t children;      /* of a free node: the next free node */
} tamis_pattern_use;

typedef struct tamis_patterns {
    tm_memory *memory; /* borrowed */
    tm_hash_key key;
    tamis_pattern_node *nodes; /* [0] is the root: the empty pattern */
    tamis_pattern_use *uses;
    tm_idset edges; /* of words: node << 36 | byte << 28 | child, by the hash of the first two */
    uint32_t node_count;
    uint32_t node_capacity;
    uint32_t use_capacity;
    uint32_t free;
    uint32_t version; /* changes with the set of patterns; never 0 */
    uint32_t stamp;
    uint32_t count; /* distinct patterns */
    uint64_t hops;  /* along failure links, and links computed, in all passes */
} tamis_patterns;

void tamis_patterns_init(tamis_patterns *patterns, tm_memory *memory);
void tamis_patterns_clear(tamis_patterns *patterns);

/* The id of the pattern, one reference more; TM_NO_PATTERN: no memory, nothing changed. */
uint32_t tamis_patterns_acquire(tamis_patterns *patterns, const uint8_t *bytes, uint32_t length, unsigned kind);
void tamis_patterns_release(tamis_patterns *patterns, uint32_t id);

/* Write to `out` the ids of all patterns the value satisfies, each once, at most `capacity`; returns how many there
 * are, which may be more. The trie keeps links and stamps in itself: not for two threads at once. Where the work is
 * over not all of the value was looked at. */
size_t tamis_patterns_find(tamis_patterns *patterns, const uint8_t *bytes, size_t length, uint32_t *out,
                           size_t capacity, tm_work *work);

/* Copy the pattern's text (at most TM_PATTERN_BYTES_MAX) to `out`; returns its length. */
uint32_t tamis_patterns_text(const tamis_patterns *patterns, uint32_t id, uint8_t *out);

int tamis_patterns_validate(const tamis_patterns *patterns, const char **reason);

/* One search for each that is there. */
void tamis_patterns_probes(const tamis_patterns *patterns, tm_probes *probes);

#endif
