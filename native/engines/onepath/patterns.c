/* patterns.c - see patterns.h. */
#include "engines/onepath/patterns.h"

#include <string.h>

#define NODES_MIN 16U
#define LOAD_PERCENT 75U
#define NODES_MAX (1U << 28) /* what an edge has bits for */
#define PASS_BYTES 1024U     /* of a value, between two looks at what it has cost */
#define VISIT_STEPS 3U       /* of a byte that leads to a node: most of a text leads to none */

void tamis_patterns_init(tamis_patterns *patterns, tm_memory *memory) {
    memset(patterns, 0, sizeof *patterns);
    patterns->memory = memory;
    patterns->key = memory->key;
    patterns->version = 1;
    patterns->edges = (tm_idset){.percent_max = LOAD_PERCENT, .has_words = true};
}

void tamis_patterns_clear(tamis_patterns *patterns) {
    TM_DELETE(patterns->memory, TM_HOT, patterns->nodes, tamis_pattern_node, patterns->node_capacity);
    TM_DELETE(patterns->memory, TM_COLD, patterns->uses, tamis_pattern_use, patterns->use_capacity);
    tm_idset_free(&patterns->edges, patterns->memory, TM_HOT);
    tamis_patterns_init(patterns, patterns->memory);
}

/* ---- edges ---- */

static inline uint64_t edge_key(uint32_t node, uint8_t byte) {
    return (uint64_t)node << 8 | byte;
}

/* Nodes are numbered here, one after the other, so a stranger has few keys to choose from and one product is enough. */
static inline uint64_t edge_hash(const tamis_patterns *patterns, uint64_t key) {
    return tm_fold(key ^ patterns->key.low, patterns->key.factor);
}

static uint64_t hash_of(const void *owner, uint64_t edge) {
    return edge_hash(owner, edge >> 28);
}

/* The child behind the edge `key` in these slots, or 0 (the root is nobody's child). */
static inline uint32_t child_among(const uint64_t *edges, uint32_t mask, uint64_t hash, uint64_t key) {
    for (uint32_t at = (uint32_t)hash & mask;; at = (at + 1) & mask) {
        uint64_t edge = edges[at];
        if (edge == 0) {
            return 0;
        }
        if (edge >> 28 == key) {
            return (uint32_t)edge & (NODES_MAX - 1);
        }
    }
}

/* The child of `node` by `byte`, or 0. */
static inline uint32_t child_of(const tamis_patterns *patterns, uint32_t node, uint8_t byte) {
    uint64_t key = edge_key(node, byte);
    uint64_t hash = edge_hash(patterns, key);
    tm_idset_search at = tm_idset_start(&patterns->edges, hash);
    return child_among(at.slots, at.mask, hash, key);
}

/* The slots of all edges, or none while the set of edges grows. */
static inline tm_slots whole_edges(const tamis_patterns *patterns) {
    return patterns->edges.is_whole ? patterns->edges.now : (tm_slots){0};
}

static void erase_edge(tamis_patterns *patterns, uint32_t node, uint8_t byte, uint32_t child) {
    uint64_t key = edge_key(node, byte);
    tm_idset_remove(&patterns->edges, edge_hash(patterns, key), key << 28 | child, hash_of, patterns);
}

/* ---- nodes ---- */

/* Room for a path of `more` new nodes, and for the root. */
static bool reserve_nodes(tamis_patterns *patterns, uint32_t more) {
    uint64_t wanted = (uint64_t)patterns->node_count + more + 1;
    if (wanted <= patterns->node_capacity) {
        return true;
    }
    uint64_t capacity = wanted + patterns->node_capacity / 4 + NODES_MIN;
    if (capacity > NODES_MAX) {
        return false;
    }
    tamis_pattern_use *uses =
        TM_RESIZE(patterns->memory, TM_COLD, patterns->uses, tamis_pattern_use, patterns->use_capacity, capacity);
    if (uses == NULL) {
        return false;
    }
    patterns->uses = uses;
    patterns->use_capacity = (uint32_t)capacity;
    tamis_pattern_node *nodes =
        TM_RESIZE(patterns->memory, TM_HOT, patterns->nodes, tamis_pattern_node, patterns->node_capacity, capacity);
    if (nodes == NULL) {
        return false;
    }
    patterns->nodes = nodes;
    patterns->node_capacity = (uint32_t)capacity;
    if (patterns->node_count == 0) {
        patterns->nodes[0] = (tamis_pattern_node){0};
        patterns->uses[0] = (tamis_pattern_use){0};
        patterns->node_count = 1;
    }
    return true;
}

static uint32_t add_child(tamis_patterns *patterns, uint32_t parent, uint8_t byte) {
    uint32_t node = patterns->free;
    if (node != 0) {
        patterns->free = patterns->uses[node].children;
    } else {
        node = patterns->node_count++;
    }
    uint16_t depth = (uint16_t)(patterns->nodes[parent].depth + 1);
    patterns->nodes[node] = (tamis_pattern_node){.parent = parent, .byte = byte, .depth = depth};
    patterns->uses[node] = (tamis_pattern_use){0};
    patterns->uses[parent].children++;
    uint64_t key = edge_key(parent, byte);
    tm_idset_insert(&patterns->edges, edge_hash(patterns, key), key << 28 | node);
    return node;
}

/* Remove the node and its ancestors as far as nothing needs them. */
static void prune(tamis_patterns *patterns, uint32_t node) {
    while (node != 0 && patterns->nodes[node].kinds == 0 && patterns->uses[node].children == 0) {
        uint32_t parent = patterns->nodes[node].parent;
        erase_edge(patterns, parent, patterns->nodes[node].byte, node);
        patterns->uses[parent].children--;
        patterns->uses[node].children = patterns->free;
        patterns->nodes[node].depth = 0; /* marks a free node */
        patterns->free = node;
        node = parent;
    }
}

static void changed(tamis_patterns *patterns) {
    if (++patterns->version != 0) {
        return;
    }
    patterns->version = 1; /* wrapped: old marks must not look fresh */
    for (uint32_t node = 0; node < patterns->node_count; node++) {
        patterns->nodes[node].link_version = 0;
    }
}

/* Nothing is left: the room for it goes, and what was remembered of it stays out of date. */
static void start_over(tamis_patterns *patterns) {
    uint32_t version = patterns->version;
    tamis_patterns_clear(patterns);
    patterns->version = version;
}

uint32_t tamis_patterns_acquire(tamis_patterns *patterns, const uint8_t *bytes, uint32_t length, unsigned kind) {
    if (!reserve_nodes(patterns, length) ||
        tm_idset_reserve_more(&patterns->edges, patterns->memory, TM_HOT, hash_of, patterns, length) != TM_OK) {
        return TM_NO_PATTERN;
    }
    uint32_t node = 0;
    for (uint32_t i = 0; i < length; i++) {
        uint32_t child = child_of(patterns, node, bytes[i]);
        node = child != 0 ? child : add_child(patterns, node, bytes[i]);
    }
    if (patterns->uses[node].references[kind]++ == 0) {
        patterns->nodes[node].kinds |= (uint8_t)(1U << kind);
        patterns->count++;
        changed(patterns);
    }
    return node << 2 | kind;
}

void tamis_patterns_release(tamis_patterns *patterns, uint32_t id) {
    uint32_t node = id >> 2;
    if (--patterns->uses[node].references[id & 3] == 0) {
        patterns->nodes[node].kinds &= (uint8_t)~(1U << (id & 3));
        patterns->count--;
        prune(patterns, node);
        changed(patterns);
        if (patterns->count == 0) {
            start_over(patterns);
        }
    }
}

uint32_t tamis_patterns_text(const tamis_patterns *patterns, uint32_t id, uint8_t *out) {
    uint32_t node = id >> 2;
    uint32_t length = patterns->nodes[node].depth;
    for (uint32_t i = length; i > 0; i--) {
        out[i - 1] = patterns->nodes[node].byte;
        node = patterns->nodes[node].parent;
    }
    return length;
}

/* ---- one pass ---- */

static void link_node(tamis_patterns *patterns, uint32_t node);

static inline uint32_t fail_of(tamis_patterns *patterns, uint32_t node) {
    if (patterns->nodes[node].link_version != patterns->version) {
        link_node(patterns, node);
    }
    return patterns->nodes[node].fail;
}

/* The longest trie path that ends with `byte` after state `node`. */
static inline uint32_t step(tamis_patterns *patterns, tm_slots whole, uint32_t node, uint8_t byte) {
    for (;;) {
        uint64_t key = edge_key(node, byte);
        uint32_t child = whole.slots != NULL ? child_among(whole.slots, whole.mask, edge_hash(patterns, key), key)
                                             : child_of(patterns, node, byte);
        if (child != 0 || node == 0) {
            return child;
        }
        node = fail_of(patterns, node);
        patterns->hops++;
    }
}

/* Compute fail and dict. Recursion goes to strictly smaller depths, so at most TM_PATTERN_BYTES_MAX deep. */
static void link_node(tamis_patterns *patterns, uint32_t node) {
    uint32_t fail = 0;
    uint32_t parent = patterns->nodes[node].parent;
    if (node != 0 && parent != 0) {
        fail = step(patterns, whole_edges(patterns), fail_of(patterns, parent), patterns->nodes[node].byte);
    }
    uint32_t dict = 0;
    if (fail != 0) {
        fail_of(patterns, fail);
        bool ends = patterns->nodes[fail].kinds & 1U << TAMIS_CONTAINS;
        dict = ends ? fail : patterns->nodes[fail].dict;
    }
    patterns->nodes[node].fail = fail;
    patterns->nodes[node].dict = dict;
    patterns->nodes[node].link_version = patterns->version;
    patterns->hops++;
}

typedef struct finding {
    uint32_t *out;
    size_t capacity;
    size_t count;
    uint64_t visits; /* of nodes, since they were counted last */
} finding;

static inline void report(finding *found, uint32_t node, unsigned kind) {
    if (found->count < found->capacity) {
        found->out[found->count] = node << 2 | kind;
    }
    found->count++;
}

/* All contains-patterns that end at this state. A stamped node has had its whole chain reported in this pass. */
static inline void report_contained(tamis_patterns *patterns, finding *found, uint32_t node) {
    if (!(patterns->nodes[node].kinds & 1U << TAMIS_CONTAINS)) {
        fail_of(patterns, node);
        node = patterns->nodes[node].dict;
    }
    while (node != 0 && patterns->nodes[node].stamp != patterns->stamp) {
        patterns->nodes[node].stamp = patterns->stamp;
        report(found, node, TAMIS_CONTAINS);
        fail_of(patterns, node);
        node = patterns->nodes[node].dict;
    }
}

static void next_stamp(tamis_patterns *patterns) {
    if (++patterns->stamp != 0) {
        return;
    }
    patterns->stamp = 1;
    for (uint32_t node = 0; node < patterns->node_count; node++) {
        patterns->nodes[node].stamp = 0;
    }
}

/* The patterns in bytes[start .. end), after those before it; returns the state behind them. */
static uint32_t pass_over(tamis_patterns *patterns, uint32_t state, const uint8_t *bytes, size_t start, size_t end,
                          finding *found) {
    tm_slots whole = whole_edges(patterns); /* looked up once: a byte costs some ten instructions */
    for (size_t i = start; i < end; i++) {
        state = step(patterns, whole, state, bytes[i]);
        if (state == 0) {
            continue;
        }
        found->visits++;
        if (patterns->nodes[state].depth == i + 1 && (patterns->nodes[state].kinds & 1U << TAMIS_PREFIX)) {
            report(found, state, TAMIS_PREFIX);
        }
        report_contained(patterns, found, state);
    }
    return state;
}

size_t tamis_patterns_find(tamis_patterns *patterns, const uint8_t *bytes, size_t length, uint32_t *out,
                           size_t capacity, tm_work *work) {
    if (patterns->count == 0 || tm_work_is_over(work)) {
        return 0;
    }
    finding found = {out, capacity, 0, 0};
    next_stamp(patterns);
    for (unsigned kind = TAMIS_PREFIX; kind <= TAMIS_CONTAINS; kind++) { /* the empty pattern is in every string */
        if (patterns->nodes[0].kinds & 1U << kind) {
            report(&found, 0, kind);
        }
    }
    uint32_t state = 0;
    size_t at = 0;
    do {
        size_t end = length - at < PASS_BYTES ? length : at + PASS_BYTES;
        uint64_t hops = patterns->hops;
        state = pass_over(patterns, state, bytes, at, end, &found);
        work->steps += (end - at) / WORK_BYTES + found.visits * VISIT_STEPS + (patterns->hops - hops) * WORK_HOP;
        found.visits = 0;
        at = end;
    } while (at < length && !tm_work_is_over(work));
    for (; state != 0; state = fail_of(patterns, state)) {
        if (patterns->nodes[state].kinds & 1U << TAMIS_SUFFIX) {
            report(&found, state, TAMIS_SUFFIX);
        }
    }
    return found.count;
}

/* ---- validation ---- */

int tamis_patterns_validate(const tamis_patterns *patterns, const char **reason) {
    uint32_t count = 0;
    uint32_t edges = 0;
    for (uint32_t node = 0; node < patterns->node_count; node++) {
        const tamis_pattern_node *at = &patterns->nodes[node];
        if (node != 0 && at->depth == 0) {
            continue; /* free */
        }
        for (unsigned kind = 0; kind < 3; kind++) {
            bool live = patterns->uses[node].references[kind] != 0;
            count += live;
            if (live != ((at->kinds >> kind) & 1)) {
                *reason = "a pattern node's kinds disagree with its references";
                return TM_MISUSED;
            }
        }
        if (node != 0) {
            edges++;
            if (child_of(patterns, at->parent, at->byte) != node ||
                patterns->nodes[at->parent].depth + 1 != at->depth) {
                *reason = "a pattern node is not its parent's child";
                return TM_MISUSED;
            }
            if (at->kinds == 0 && patterns->uses[node].children == 0) {
                *reason = "a pattern node is kept for nothing";
                return TM_MISUSED;
            }
        }
    }
    if (count != patterns->count || edges != patterns->edges.count) {
        *reason = "the count of patterns or edges is wrong";
        return TM_MISUSED;
    }
    return TM_OK;
}

void tamis_patterns_probes(const tamis_patterns *patterns, tm_probes *probes) {
    tm_idset_probes(&patterns->edges, hash_of, patterns, probes);
}
