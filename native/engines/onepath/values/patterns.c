/* patterns.c - adds and removes patterns. Law: as in patterns.h; patterns_pass.c matches values. */
#include "engines/onepath/values/patterns.h"

#include <string.h>

#include "base/grow.h"

#define NODES_MIN 16U
#define LOAD_PERCENT 75U
#define BYTES_OF_ROOT 256U

void onepath_patterns_init(onepath_patterns *patterns, tm_memory *memory) {
    memset(patterns, 0, sizeof *patterns);
    patterns->memory = memory;
    patterns->key = memory->key;
    patterns->version = 1;
    patterns->edges = (tm_idset){.percent_max = LOAD_PERCENT, .has_words = true};
    tm_arena_init(&patterns->texts, memory, TM_COLD);
}

void onepath_patterns_clear(onepath_patterns *patterns) {
    tm_memory *memory = patterns->memory;
    TM_DELETE(memory, TM_HOT, patterns->nodes, onepath_pattern_node, patterns->node_capacity);
    TM_DELETE(memory, TM_HOT, patterns->ends, onepath_pattern_end, patterns->end_capacity);
    TM_DELETE(memory, TM_COLD, patterns->uses, onepath_pattern_use, patterns->use_capacity);
    TM_DELETE(memory, TM_HOT, patterns->first, uint32_t, BYTES_OF_ROOT);
    tm_arena_clear(&patterns->texts);
    tm_idset_free(&patterns->edges, memory, TM_HOT);
    onepath_patterns_init(patterns, memory);
}

static uint64_t hash_of(const void *owner, uint64_t edge) {
    return onepath_edge_hash(owner, edge >> 28);
}

/* ---- room ---- */

/* Reserve a path of `more` new nodes, and the root. Grows by an eighth, to save memory per pattern. */
static bool reserve_nodes(onepath_patterns *patterns, uint32_t more) {
    uint64_t wanted = (uint64_t)patterns->node_count + more + 1;
    if (wanted <= patterns->node_capacity) {
        return true;
    }
    uint64_t capacity = wanted + patterns->node_capacity / 8 + NODES_MIN;
    if (capacity > ONEPATH_PATTERN_NODES) {
        return false;
    }
    onepath_pattern_node *nodes =
        TM_RESIZE(patterns->memory, TM_HOT, patterns->nodes, onepath_pattern_node, patterns->node_capacity, capacity);
    if (nodes == NULL) {
        return false;
    }
    patterns->nodes = nodes;
    patterns->node_capacity = (uint32_t)capacity;
    return true;
}

static bool reserve_root(onepath_patterns *patterns) {
    if (patterns->first == NULL) {
        patterns->first = TM_NEW(patterns->memory, TM_HOT, uint32_t, BYTES_OF_ROOT);
    }
    if (patterns->first != NULL && patterns->node_count == 0) {
        patterns->nodes[0] = (onepath_pattern_node){.child = ONEPATH_NO_NODE, .other = ONEPATH_NO_NODE};
        patterns->node_count = 1;
        patterns->end_count = 1;
    }
    return patterns->first != NULL;
}

static uint32_t text_units(uint32_t length) {
    return (length + (uint32_t)sizeof(uint64_t) - 1) / (uint32_t)sizeof(uint64_t);
}

/* Reserve all that one more pattern may need: all its nodes, one edge (a path leaves the existing ones once), an
 * end. */
static bool reserve(onepath_patterns *patterns, uint32_t length) {
    tm_memory *memory = patterns->memory;
    uint32_t ends = patterns->end_count + 2;
    return reserve_nodes(patterns, length) && reserve_root(patterns) &&
           tm_grow(memory, TM_HOT, &patterns->ends, sizeof *patterns->ends, &patterns->end_capacity, ends) &&
           tm_grow(memory, TM_COLD, &patterns->uses, sizeof *patterns->uses, &patterns->use_capacity, ends) &&
           tm_arena_reserve(&patterns->texts, text_units(length)) &&
           tm_idset_reserve(&patterns->edges, memory, TM_HOT, hash_of, patterns) == TM_OK;
}

/* ---- nodes ---- */

static uint32_t add_child(onepath_patterns *patterns, uint32_t parent, uint8_t byte) {
    uint32_t node = patterns->node_free;
    if (node != 0) {
        patterns->node_free = patterns->nodes[node].child;
    } else {
        node = patterns->node_count++;
    }
    patterns->node_live++;
    patterns->nodes[node] = (onepath_pattern_node){.child = ONEPATH_NO_NODE, .other = ONEPATH_NO_NODE};
    onepath_pattern_node *above = &patterns->nodes[parent];
    if (parent == 0) {
        patterns->first[byte] = node;
    } else if (above->child == ONEPATH_NO_NODE) {
        above->child = node;
        above->child_byte = byte;
    } else {
        uint64_t key = onepath_edge_key(parent, byte);
        tm_idset_insert(&patterns->edges, onepath_edge_hash(patterns, key), key << 28 | node);
        above->forks++;
    }
    return node;
}

static void remove_child(onepath_patterns *patterns, uint32_t parent, uint8_t byte, uint32_t node) {
    onepath_pattern_node *above = &patterns->nodes[parent];
    if (parent == 0) {
        patterns->first[byte] = 0;
    } else if (above->child == node) {
        above->child = ONEPATH_NO_NODE;
    } else {
        uint64_t key = onepath_edge_key(parent, byte);
        tm_idset_remove(&patterns->edges, onepath_edge_hash(patterns, key), key << 28 | node, hash_of, patterns);
        above->forks--;
    }
    patterns->node_live--;
    patterns->nodes[node] = (onepath_pattern_node){.child = patterns->node_free};
    patterns->node_free = node;
}

/* Remove the last node of the path of this text, and those above it, as long as no pattern needs them. */
static void prune(onepath_patterns *patterns, const uint8_t *text, uint32_t length) {
    uint32_t path[TM_PATTERN_BYTES_MAX + 1] = {0};
    for (uint32_t i = 0; i < length; i++) {
        path[i + 1] = onepath_pattern_child(patterns, path[i], text[i]);
    }
    for (uint32_t i = length; i > 0; i--) {
        const onepath_pattern_node *node = &patterns->nodes[path[i]];
        if (node->kinds != 0 || node->child != ONEPATH_NO_NODE || node->forks > 0) {
            return;
        }
        remove_child(patterns, path[i - 1], text[i - 1], path[i]);
    }
}

/* ---- ends ---- */

/* Return the node's end, which is made if needed; there must be room. */
static uint32_t end_at(onepath_patterns *patterns, uint32_t node, const uint8_t *text, uint32_t length) {
    if (patterns->nodes[node].kinds != 0) {
        return patterns->nodes[node].out;
    }
    uint32_t end = patterns->end_free;
    if (end != 0) {
        patterns->end_free = patterns->uses[end].node;
    } else {
        end = patterns->end_count++;
    }
    patterns->ends[end] = (onepath_pattern_end){0};
    patterns->uses[end] = (onepath_pattern_use){.node = node, .length = length};
    if (length > 0) {
        uint32_t block = tm_arena_take(&patterns->texts, tm_arena_class(text_units(length)));
        patterns->uses[end].text = block;
        memcpy(tm_arena_at(&patterns->texts, block), text, length);
    }
    patterns->nodes[node].out = end;
    return end;
}

/* Remove an end that has no pattern, and the nodes that only it needed. */
static void drop_end(onepath_patterns *patterns, uint32_t end) {
    onepath_pattern_use use = patterns->uses[end];
    uint8_t text[TM_PATTERN_BYTES_MAX];
    onepath_patterns_text(patterns, end << 2, text);
    patterns->nodes[use.node].out = 0;
    prune(patterns, text, use.length);
    if (use.length > 0) {
        tm_arena_give(&patterns->texts, use.text, tm_arena_class(text_units(use.length)));
    }
    patterns->uses[end] = (onepath_pattern_use){.node = patterns->end_free};
    patterns->end_free = end;
}

/* Invalidate all links, except those of the root, which has none. */
static void changed(onepath_patterns *patterns) {
    if (++patterns->version == 0) {
        patterns->version = 1; /* wrapped: old versions must not look valid */
        for (uint32_t node = 0; node < patterns->node_count; node++) {
            patterns->nodes[node].version = 0;
        }
    }
    patterns->nodes[0].version = patterns->version;
}

/* Free all room when no pattern is left; the version goes on, so that what was cached stays invalid. */
static void start_over(onepath_patterns *patterns) {
    uint32_t version = patterns->version;
    onepath_patterns_clear(patterns);
    patterns->version = version;
}

/* ---- patterns ---- */

uint32_t onepath_patterns_acquire(onepath_patterns *patterns, const uint8_t *bytes, uint32_t length, unsigned kind) {
    if (!reserve(patterns, length)) {
        return TM_NO_PATTERN;
    }
    uint32_t node = 0;
    for (uint32_t i = 0; i < length; i++) {
        uint32_t child = onepath_pattern_child(patterns, node, bytes[i]);
        node = child != ONEPATH_NO_NODE ? child : add_child(patterns, node, bytes[i]);
    }
    uint32_t end = end_at(patterns, node, bytes, length);
    if (patterns->uses[end].references[kind]++ == 0) {
        patterns->nodes[node].kinds |= (uint8_t)(1U << kind);
        patterns->of_kind[kind]++;
        patterns->count++;
        changed(patterns);
    }
    return end << 2 | kind;
}

void onepath_patterns_release(onepath_patterns *patterns, uint32_t id) {
    uint32_t end = id >> 2;
    unsigned kind = id & 3;
    if (--patterns->uses[end].references[kind] != 0) {
        return;
    }
    uint32_t node = patterns->uses[end].node;
    patterns->nodes[node].kinds &= (uint8_t)~(1U << kind);
    patterns->of_kind[kind]--;
    patterns->count--;
    if (patterns->nodes[node].kinds == 0) {
        drop_end(patterns, end);
    }
    changed(patterns);
    if (patterns->count == 0) {
        start_over(patterns);
    }
}

uint32_t onepath_patterns_text(const onepath_patterns *patterns, uint32_t id, uint8_t *out) {
    const onepath_pattern_use *use = &patterns->uses[id >> 2];
    if (use->length > 0) {
        memcpy(out, tm_arena_at(&patterns->texts, use->text), use->length);
    }
    return use->length;
}

bool onepath_patterns_has(const onepath_patterns *patterns, uint32_t id, uint32_t other) {
    const onepath_pattern_use *use = &patterns->uses[id >> 2];
    const onepath_pattern_use *part = &patterns->uses[other >> 2];
    if ((id & 3) != (other & 3) || (id & 3) == ONEPATH_CONTAINS || part->length > use->length) {
        return false;
    }
    const uint8_t *text = tm_arena_at(&patterns->texts, use->text);
    uint32_t from = (id & 3) == ONEPATH_SUFFIX ? use->length - part->length : 0;
    return part->length == 0 || memcmp(text + from, tm_arena_at(&patterns->texts, part->text), part->length) == 0;
}

void onepath_patterns_probes(const onepath_patterns *patterns, tm_probes *probes) {
    tm_idset_probes(&patterns->edges, hash_of, patterns, probes);
}
