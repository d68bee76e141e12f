/* text_sets.c - the strings of one attribute in sorted sets, patterns included.
 *
 * Law: as in text_index.h. The patterns that begin at a place of a text are all found by halving: the greatest pattern
 * not above the rest of the text is the longest candidate; if the text does not begin with it, other candidates are no
 * longer than what it shares with the text, and the search goes on with that much text. So a place costs at most
 * TM_PATTERN_BYTES_MAX + 1 searches, each of which is counted, whether it finds a pattern or only excludes a length.
 */
#include "engines/papers/order_index.h"
#include "engines/papers/text_index.h"

#define SEEK_STEPS 16U /* of one search among the patterns */

struct tm_text_index {
    tm_constraints *constraints; /* borrowed: its memory and strings */
    tm_order_index order;
    tm_ordered prefixes;
    tm_ordered suffixes;
    tm_ordered contained;
};

static tm_text_index *create(tm_constraints *constraints, void *shared) {
    (void)shared;
    tm_text_index *index = TM_NEW(constraints->memory, TM_HOT, tm_text_index, 1);
    if (index != NULL) {
        index->constraints = constraints;
    }
    return index;
}

static void destroy(tm_text_index *index) {
    if (index == NULL) {
        return;
    }
    tm_memory *memory = index->constraints->memory;
    tm_order_free(&index->order, memory);
    tm_ordered_free(&index->prefixes, memory);
    tm_ordered_free(&index->suffixes, memory);
    tm_ordered_free(&index->contained, memory);
    TM_DELETE(memory, TM_HOT, index, tm_text_index, 1);
}

/* Return the set of a pattern operator; NULL for the operators of the order index. */
static tm_ordered *patterns_of(tm_text_index *index, uint8_t op) {
    return op == TM_OP_PREFIX     ? &index->prefixes
           : op == TM_OP_SUFFIX   ? &index->suffixes
           : op == TM_OP_CONTAINS ? &index->contained
                                  : NULL;
}

static int add(tm_text_index *index, uint8_t op, uint32_t string, uint32_t constraint) {
    tm_constraints *constraints = index->constraints;
    tm_atom operand = {.string = string, .kind = TM_KIND_STRING};
    tm_ordered *patterns = patterns_of(index, op);
    if (patterns == NULL) {
        return tm_order_add(&index->order, constraints, op, &operand, constraint);
    }
    tm_probe probe = tm_probe_operand(&constraints->strings, &operand);
    probe.constraint = constraint;
    return tm_ordered_add(patterns, constraints->memory, &constraints->strings, &probe, string);
}

static void remove_(tm_text_index *index, uint8_t op, uint32_t string, uint32_t constraint) {
    tm_constraints *constraints = index->constraints;
    tm_atom operand = {.string = string, .kind = TM_KIND_STRING};
    tm_ordered *patterns = patterns_of(index, op);
    if (patterns == NULL) {
        tm_order_remove(&index->order, constraints, op, &operand, constraint);
        return;
    }
    tm_probe probe = tm_probe_operand(&constraints->strings, &operand);
    probe.constraint = constraint;
    tm_ordered_remove(patterns, constraints->memory, &constraints->strings, &probe);
}

/* ---- matching ---- */

static uint32_t shared_length(const tm_interned *string, const uint8_t *text, uint32_t length) {
    uint32_t shared = 0;
    while (shared < string->length && shared < length && string->bytes[shared] == text[shared]) {
        shared++;
    }
    return shared;
}

/* Return the longest pattern of at most `*left` bytes that `text` begins with, or NULL; `*left` becomes the greatest
 * length of shorter ones. */
static const tm_entry *longest_beginning(const tm_ordered *patterns, const tm_intern *strings, const uint8_t *text,
                                         int32_t *left, tm_found *found) {
    while (*left >= 0 && !found->done) {
        tm_found_spend(found, SEEK_STEPS);
        uint32_t length = (uint32_t)*left;
        tm_probe probe = tm_probe_text(text, length);
        probe.tag = UINT32_MAX;
        const tm_entry *entry = tm_ordered_last_before(patterns, tm_ordered_seek(patterns, strings, &probe));
        if (entry == NULL) {
            break;
        }
        const tm_interned *string = &strings->entries[entry->low];
        uint32_t shared = shared_length(string, text, length);
        *left = (int32_t)shared;
        if (shared == string->length) {
            *left -= 1;
            return entry;
        }
    }
    return NULL;
}

static int32_t pattern_bytes(uint32_t length) {
    return length < TM_PATTERN_BYTES_MAX ? (int32_t)length : TM_PATTERN_BYTES_MAX;
}

static void match_beginnings(const tm_ordered *patterns, const tm_intern *strings, const uint8_t *text, uint32_t length,
                             tm_found *found) {
    int32_t left = pattern_bytes(length);
    for (const tm_entry *entry; (entry = longest_beginning(patterns, strings, text, &left, found)) != NULL;) {
        tm_found_add(found, entry->constraint);
    }
}

static void match_endings(const tm_ordered *patterns, const tm_intern *strings, const uint8_t *text, uint32_t length,
                          tm_found *found) {
    uint32_t longest = length < TM_PATTERN_BYTES_MAX ? length : TM_PATTERN_BYTES_MAX;
    for (uint32_t size = 0; size <= longest && !found->done; size++) {
        tm_probe probe = tm_probe_text(text + (length - size), size);
        tm_ordered_equal(patterns, strings, &probe, found);
    }
}

/* Report the patterns at one place and return how many are new. If the longest was found before, so were all shorter
 * patterns that it begins with. */
static uint64_t match_place(const tm_ordered *patterns, tm_constraints *constraints, const uint8_t *text,
                            uint32_t length, tm_found *found) {
    uint64_t fresh = 0;
    int32_t left = pattern_bytes(length);
    const tm_intern *strings = &constraints->strings;
    for (const tm_entry *entry; (entry = longest_beginning(patterns, strings, text, &left, found)) != NULL;) {
        if (!tm_held_first_time(&constraints->held[entry->constraint], found->message)) {
            break;
        }
        tm_found_add(found, entry->constraint);
        fresh++;
    }
    return fresh;
}

static void match_inside(const tm_ordered *patterns, tm_constraints *constraints, const uint8_t *text, uint32_t length,
                         tm_found *found) {
    uint64_t unseen = tm_ordered_count(patterns);
    for (uint32_t start = 0; start <= length && unseen > 0 && !found->done; start++) {
        unseen -= match_place(patterns, constraints, text + start, length - start, found);
    }
}

static void match(const tm_text_index *index, const uint8_t *text, uint32_t length, tm_found *found) {
    const tm_intern *strings = &index->constraints->strings;
    tm_probe value = tm_probe_text(text, length);
    tm_order_match(&index->order, index->constraints, strings, &value, found);
    if (index->prefixes.count > 0) {
        match_beginnings(&index->prefixes, strings, value.text, length, found);
    }
    if (index->suffixes.count > 0) {
        match_endings(&index->suffixes, strings, value.text, length, found);
    }
    if (index->contained.count > 0) {
        match_inside(&index->contained, index->constraints, value.text, length, found);
    }
}

/* ---- the whole ---- */

static uint64_t count(const tm_text_index *index) {
    return tm_order_count(&index->order) + tm_ordered_count(&index->prefixes) + tm_ordered_count(&index->suffixes) +
           tm_ordered_count(&index->contained);
}

static int validate(const tm_text_index *index, const char **reason) {
    const tm_intern *strings = &index->constraints->strings;
    const tm_ordered *sets[] = {&index->prefixes, &index->suffixes, &index->contained};
    int result = tm_order_validate(&index->order, strings, reason);
    for (size_t i = 0; result == TM_OK && i < sizeof sets / sizeof *sets; i++) {
        result = tm_ordered_validate(sets[i], strings, reason);
    }
    return result;
}

const tm_text_class tm_text_sets = {create, destroy, add, remove_, match, count, validate};
