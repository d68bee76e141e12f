/* patterns_validate.c - checks the invariants of patterns.h pattern by pattern. For tests. */
#include "engines/onepath/values/patterns_validate.h"

#include <string.h>

/* The result of a check of all patterns. Owns its arrays. */
typedef struct survey {
    const onepath_patterns *patterns; /* borrowed */
    uint8_t *seen;                    /* by node: on the path of a pattern */
    uint32_t nodes;                   /* nodes seen */
    uint32_t ends;
    uint32_t of_kind[ONEPATH_PATTERN_KINDS];
} survey;

static int fails(const char **reason, const char *why) {
    *reason = why;
    return TM_MISUSED;
}

/* Return the node of this text, or ONEPATH_NO_NODE. */
static uint32_t walk(const onepath_patterns *patterns, const uint8_t *text, uint32_t length) {
    uint32_t node = 0;
    for (uint32_t i = 0; i < length && node != ONEPATH_NO_NODE; i++) {
        node = onepath_pattern_child(patterns, node, text[i]);
    }
    return node;
}

/* Return the longest path that is a proper suffix of this text. */
static uint32_t longest_ending(const onepath_patterns *patterns, const uint8_t *text, uint32_t length) {
    for (uint32_t from = 1; from < length; from++) {
        uint32_t node = walk(patterns, text + from, length - from);
        if (node != ONEPATH_NO_NODE) {
            return node;
        }
    }
    return 0;
}

/* Return the next contains-pattern on the fail chain, as the pass computes it. */
static uint32_t next_contains(const onepath_patterns *patterns, uint32_t node) {
    for (node = patterns->nodes[node].fail; node != 0; node = patterns->nodes[node].fail) {
        if (patterns->nodes[node].kinds & 1U << ONEPATH_CONTAINS) {
            return patterns->nodes[node].out;
        }
    }
    return 0;
}

/* Check the links of the node of this text, and its cached target. */
static int check_links(const onepath_patterns *patterns, uint32_t node, const uint8_t *text, uint32_t length,
                       const char **reason) {
    const onepath_pattern_node *at = &patterns->nodes[node];
    if (at->version != patterns->version) {
        return TM_OK;
    }
    if (at->fail != longest_ending(patterns, text, length) || patterns->nodes[at->fail].version != patterns->version) {
        return fails(reason, "a failure link of a pattern node leads elsewhere");
    }
    if ((at->kinds != 0 ? patterns->ends[at->out].dict : at->out) != next_contains(patterns, node)) {
        return fails(reason, "a pattern node's next contained pattern is another one");
    }
    if (at->other != ONEPATH_NO_NODE) {
        uint8_t longer[TM_PATTERN_BYTES_MAX + 1];
        memcpy(longer, text, length);
        longer[length] = at->other_byte;
        uint32_t child = walk(patterns, longer, length + 1);
        uint32_t next = child != ONEPATH_NO_NODE ? child : longest_ending(patterns, longer, length + 1);
        if (at->other != next || patterns->nodes[next].version != patterns->version) {
            return fails(reason, "a pattern node remembers a path that leads elsewhere");
        }
    }
    return TM_OK;
}

/* Check everything on the path of this end. */
static int check_end(survey *s, uint32_t end, const char **reason) {
    const onepath_patterns *patterns = s->patterns;
    const onepath_pattern_use *use = &patterns->uses[end];
    uint8_t text[TM_PATTERN_BYTES_MAX];
    uint32_t length = onepath_patterns_text(patterns, end << 2, text);
    if (walk(patterns, text, length) != use->node || patterns->nodes[use->node].out != end) {
        return fails(reason, "a pattern does not end at its node");
    }
    for (unsigned kind = 0; kind < ONEPATH_PATTERN_KINDS; kind++) {
        bool live = use->references[kind] != 0;
        s->of_kind[kind] += live;
        if (live != ((patterns->nodes[use->node].kinds >> kind) & 1)) {
            return fails(reason, "a pattern node's kinds disagree with its references");
        }
    }
    for (uint32_t size = 1; size <= length; size++) {
        uint32_t node = walk(patterns, text, size);
        int result = s->seen[node] ? TM_OK : check_links(patterns, node, text, size, reason);
        if (result != TM_OK) {
            return result;
        }
        s->nodes += !s->seen[node];
        s->seen[node] = true;
    }
    s->ends++;
    return TM_OK;
}

static int check_ends(survey *s, const char **reason) {
    const onepath_patterns *patterns = s->patterns;
    for (uint32_t end = 1; end < patterns->end_count; end++) {
        const uint32_t *references = patterns->uses[end].references;
        bool live =
            references[ONEPATH_PREFIX] != 0 || references[ONEPATH_SUFFIX] != 0 || references[ONEPATH_CONTAINS] != 0;
        int result = live ? check_end(s, end, reason) : TM_OK;
        if (result != TM_OK) {
            return result;
        }
    }
    return TM_OK;
}

/* Check that every node that is not free is on the path of a pattern, and each except the root is one child of one
 * node. */
static int check_nodes(const survey *s, const char **reason) {
    const onepath_patterns *patterns = s->patterns;
    uint32_t free_nodes = 0;
    for (uint32_t node = patterns->node_free; node != 0; node = patterns->nodes[node].child) {
        free_nodes++;
    }
    uint32_t free_ends = 0;
    for (uint32_t end = patterns->end_free; end != 0; end = patterns->uses[end].node) {
        free_ends++;
    }
    if (s->nodes + free_nodes + 1 != patterns->node_count || s->ends + free_ends + 1 != patterns->end_count) {
        return fails(reason, "a pattern node or an end has no use");
    }
    uint32_t children = 0;
    uint32_t forks = 0;
    for (uint32_t byte = 0; byte < 256; byte++) {
        children += patterns->first[byte] != 0;
    }
    for (uint32_t node = 1; node < patterns->node_count; node++) {
        const onepath_pattern_node *at = &patterns->nodes[node];
        children += s->seen[node] ? (at->child != ONEPATH_NO_NODE) + (uint32_t)at->forks : 0;
        forks += s->seen[node] ? at->forks : 0;
    }
    if (children != s->nodes || forks != patterns->edges.count) {
        return fails(reason, "the count of edges between pattern nodes is wrong");
    }
    return TM_OK;
}

static int check_all(survey *s, const char **reason) {
    int result = check_ends(s, reason);
    if (result != TM_OK) {
        return result;
    }
    uint32_t count = 0;
    for (unsigned kind = 0; kind < ONEPATH_PATTERN_KINDS; kind++) {
        count += s->of_kind[kind];
        if (s->of_kind[kind] != s->patterns->of_kind[kind]) {
            return fails(reason, "the count of patterns of a kind is wrong");
        }
    }
    return count == s->patterns->count ? check_nodes(s, reason) : fails(reason, "the count of patterns is wrong");
}

int onepath_patterns_validate(const onepath_patterns *patterns, const char **reason) {
    if (patterns->node_count == 0 || patterns->count == 0) {
        return patterns->count == 0 ? TM_OK : fails(reason, "there are patterns without nodes");
    }
    tm_memory own = {0}; /* not the table's: a full table must not make the check fail */
    survey s = {.patterns = patterns, .seen = TM_NEW(&own, TM_COLD, uint8_t, patterns->node_count)};
    if (s.seen == NULL) {
        return TM_NO_MEMORY;
    }
    int result = check_all(&s, reason);
    TM_DELETE(&own, TM_COLD, s.seen, uint8_t, patterns->node_count);
    return result;
}
