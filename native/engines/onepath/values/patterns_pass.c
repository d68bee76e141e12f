/* patterns_pass.c - one value against all patterns. Law: see patterns.h.
 *
 * A pass follows the path from the root as long as there is one, then the states: of each it reads one node, where
 * nearly all bytes are the first child's or the cached one. A long value is scanned in several places at once, so that
 * the next node of one is being loaded while the others are processed.
 */
#include "engines/onepath/values/patterns_pass.h"

#define PASS_BYTES 4096U   /* of a value, between two checks of the work budget */
#define BYTES_A_STEP 2U    /* of a value, when it is scanned */
#define STREAMS 4U         /* places at once: the latency of the second-level cache in node reads */
#define STREAM_BYTES 1024U /* lower limit for each: a stream begins a pattern's length early */

/* ---- links ---- */

static uint32_t nearest_contains(const onepath_patterns *patterns, uint32_t node) {
    const onepath_pattern_node *at = &patterns->nodes[node];
    bool is_passed = at->kinds != 0 && !(at->kinds & 1U << ONEPATH_CONTAINS); /* its own end has other kinds only */
    return is_passed ? patterns->ends[at->out].dict : at->out;
}

/* Compute the links of `node`, a child by `byte` of `parent`, whose own links are valid. All that a valid link leads to
 * has valid links. Recursion goes to strictly shorter paths, so at most TM_PATTERN_BYTES_MAX deep. */
static void link_node(onepath_patterns *patterns, uint32_t node, uint32_t parent, uint8_t byte) {
    uint32_t fail = 0;
    for (uint32_t at = parent; at != 0 && fail == 0;) {
        at = patterns->nodes[at].fail;
        uint32_t child = onepath_pattern_child(patterns, at, byte);
        patterns->hops++;
        if (child != ONEPATH_NO_NODE) {
            fail = child;
            if (patterns->nodes[child].version != patterns->version) {
                link_node(patterns, child, at, byte);
            }
        }
    }
    onepath_pattern_node *linked = &patterns->nodes[node];
    uint32_t next = fail != 0 ? nearest_contains(patterns, fail) : 0;
    linked->fail = fail;
    linked->other = ONEPATH_NO_NODE;
    linked->version = patterns->version;
    if (linked->kinds != 0) {
        patterns->ends[linked->out].dict = next;
    } else {
        linked->out = next;
    }
}

/* Return the state behind `byte` after `state`, which is not the root and has valid links; searches for it and caches
 * it. */
static __attribute__((noinline)) uint32_t find_next(onepath_patterns *patterns, uint32_t state, uint8_t byte) {
    uint32_t next = ONEPATH_NO_NODE;
    uint32_t at = state;
    for (;; at = patterns->nodes[at].fail) {
        next = onepath_pattern_child(patterns, at, byte);
        patterns->hops++;
        if (next != ONEPATH_NO_NODE || at == 0) {
            break;
        }
    }
    next = next == ONEPATH_NO_NODE ? 0 : next;
    if (next != 0 && patterns->nodes[next].version != patterns->version) {
        link_node(patterns, next, at, byte);
    }
    patterns->nodes[state].other = next;
    patterns->nodes[state].other_byte = byte;
    return next;
}

/* Return the longest path that ends with `byte` after `state`; its links are valid, as those of `state` are. No
 * processor predicts which of the two known bytes it is: ONEPATH_NO_NODE is all ones, so that a mask selects the known
 * one. */
static inline uint32_t step(onepath_patterns *patterns, uint32_t state, uint8_t byte) {
    const onepath_pattern_node *at = &patterns->nodes[state];
    uint32_t not_child = 0U - (uint32_t)(at->child_byte != byte);
    uint32_t not_other = 0U - (uint32_t)(at->other_byte != byte);
    uint32_t next = (at->child | not_child) & (at->other | not_other);
    if (next == ONEPATH_NO_NODE) {
        if (state != 0) {
            return find_next(patterns, state, byte);
        }
        next = patterns->first[byte];
    }
    if (__builtin_expect(patterns->nodes[next].version != patterns->version, 0)) {
        link_node(patterns, next, state, byte);
    }
    return next;
}

/* ---- results ---- */

typedef struct finding {
    uint32_t *out;
    size_t capacity;
    size_t count;
} finding;

static inline void report(finding *found, uint32_t end, unsigned kind) {
    if (found->count < found->capacity) {
        found->out[found->count] = end << 2 | kind;
    }
    found->count++;
}

/* Report all contains-patterns that end at this state. The whole chain of a stamped end was reported in this pass. */
static inline void report_contained(onepath_patterns *patterns, finding *found, uint32_t state) {
    if (__builtin_expect(patterns->nodes[state].out == 0, 1)) {
        return;
    }
    uint32_t end = nearest_contains(patterns, state);
    while (end != 0 && patterns->ends[end].stamp != patterns->stamp) {
        patterns->ends[end].stamp = patterns->stamp;
        report(found, end, ONEPATH_CONTAINS);
        end = patterns->ends[end].dict;
    }
}

static inline void report_own(const onepath_patterns *patterns, finding *found, uint32_t node, unsigned kind) {
    if (patterns->nodes[node].kinds & 1U << kind) {
        report(found, patterns->nodes[node].out, kind);
    }
}

static void next_stamp(onepath_patterns *patterns) {
    if (++patterns->stamp != 0) {
        return;
    }
    patterns->stamp = 1;
    for (uint32_t end = 0; end < patterns->end_count; end++) {
        patterns->ends[end].stamp = 0;
    }
}

/* ---- the pass ---- */

/* Where a pass is: `state` is the longest path that ends at `at`. */
typedef struct place {
    size_t at;
    uint32_t state;
} place;

/* Follow the path from the root, as far as the value has one: report prefixes, and contains-patterns within it. */
static place follow_path(onepath_patterns *patterns, const uint8_t *bytes, size_t length, finding *found) {
    place here = {0, 0};
    while (here.at < length) {
        uint8_t byte = bytes[here.at];
        uint32_t next = onepath_pattern_child(patterns, here.state, byte);
        if (next == ONEPATH_NO_NODE) {
            break;
        }
        if (patterns->nodes[next].version != patterns->version) {
            link_node(patterns, next, here.state, byte);
        }
        here = (place){here.at + 1, next};
        report_own(patterns, found, next, ONEPATH_PREFIX);
        report_contained(patterns, found, next);
    }
    return here;
}

/* Report the patterns that end in bytes[here.at .. end). */
static place pass_over(onepath_patterns *patterns, place here, const uint8_t *bytes, size_t end, finding *found) {
    for (; here.at < end; here.at++) {
        here.state = step(patterns, here.state, bytes[here.at]);
        report_contained(patterns, found, here.state);
    }
    return here;
}

/* Report the patterns that end in a long piece, in STREAMS parts at once. Each part begins so early that no longer
 * pattern reaches back. */
static place pass_over_streams(onepath_patterns *patterns, place here, const uint8_t *bytes, size_t end,
                               finding *found) {
    size_t part = (end - here.at - TM_PATTERN_BYTES_MAX) / STREAMS;
    const uint8_t *from[STREAMS];
    uint32_t states[STREAMS] = {here.state};
    for (uint32_t i = 0; i < STREAMS; i++) {
        from[i] = bytes + here.at + i * part;
    }
    for (size_t at = 0; at < part + TM_PATTERN_BYTES_MAX; at++) {
        for (uint32_t i = 0; i < STREAMS; i++) {
            states[i] = step(patterns, states[i], from[i][at]);
        }
        for (uint32_t i = 0; i < STREAMS; i++) {
            report_contained(patterns, found, states[i]);
        }
    }
    place behind = {here.at + (STREAMS - 1) * part + part + TM_PATTERN_BYTES_MAX, states[STREAMS - 1]};
    return pass_over(patterns, behind, bytes, end, found);
}

/* Scan the value piece by piece up to its end, or until the work budget is used up. */
static place pass_over_all(onepath_patterns *patterns, place here, const uint8_t *bytes, size_t length, finding *found,
                           tm_work *work) {
    while (here.at < length && !tm_work_is_over(work)) {
        size_t left = length - here.at;
        size_t end = left < 2 * PASS_BYTES ? length : here.at + PASS_BYTES;
        uint64_t hops = patterns->hops;
        size_t start = here.at;
        here = end - start < STREAMS * STREAM_BYTES ? pass_over(patterns, here, bytes, end, found)
                                                    : pass_over_streams(patterns, here, bytes, end, found);
        work->steps += (end - start) / BYTES_A_STEP + (patterns->hops - hops);
    }
    return here;
}

size_t onepath_patterns_find(onepath_patterns *patterns, const uint8_t *bytes, size_t length, uint32_t *out,
                             size_t capacity, tm_work *work) {
    if (patterns->count == 0 || tm_work_is_over(work)) {
        return 0;
    }
    finding found = {out, capacity, 0};
    next_stamp(patterns);
    report_own(patterns, &found, 0, ONEPATH_PREFIX); /* every string has the empty pattern */
    report_own(patterns, &found, 0, ONEPATH_SUFFIX);
    report_contained(patterns, &found, 0);
    place here = follow_path(patterns, bytes, length, &found);
    work->steps += here.at;
    if (patterns->of_kind[ONEPATH_CONTAINS] == 0) { /* only the end may have more */
        if (patterns->of_kind[ONEPATH_SUFFIX] == 0) {
            return found.count;
        }
        if (length - here.at > TM_PATTERN_BYTES_MAX) {
            here = (place){length - TM_PATTERN_BYTES_MAX, 0};
        }
    }
    here = pass_over_all(patterns, here, bytes, length, &found, work);
    for (uint32_t state = here.state; state != 0; state = patterns->nodes[state].fail) {
        report_own(patterns, &found, state, ONEPATH_SUFFIX);
    }
    return found.count;
}
