/* test_index.c - the index of one name, with either kind of text index, large enough that runs, blocks and branches
 * split.
 *
 * Law: after any additions and removals it validates, and hands on exactly the constraints that hold.
 */
#include <string.h>

#include "engines/papers/name_index.h"
#include "engines/papers/trie.h"
#include "support.h"

#define CONSTRAINTS_MAX 1500
#define IDS_MAX (CONSTRAINTS_MAX + 2)

typedef struct kept {
    uint8_t *bytes; /* owned; a filter of this one constraint; NULL when not in use */
    size_t size;
    uint32_t id;
} kept;

typedef struct bench {
    tm_memory memory;
    tm_constraints constraints;
    tm_trie_store store;
    tm_text_kind kind;
    tm_name_index index;
    kept all[CONSTRAINTS_MAX];
    bool found[IDS_MAX + 1];
    uint32_t messages;
    uint32_t live;
} bench;

static tm_filter parsed;
static wire scratch;

/* Mostly words over a wide alphabet, some long ones that share a beginning. */
static void put_word(dice *d, wire *out, uint32_t length_max) {
    static const char *const dead_letters[] = {"a", "b", "c", "x", "y", "z", "\xc3\xa9", "\xc3\xaa", "\xf0\x9f\xa5\x81",
                                               "0"};
    char word[128];
    uint32_t size = below(d, 10) == 0 ? 40 : 0;
    memset(word, 'a', size);
    for (uint32_t left = below(d, length_max + 1); left > 0; left--) {
        const char *dead_letter = dead_letters[below(d, below(d, 2) ? 3 : 10)];
        memcpy(word + size, dead_letter, strlen(dead_letter));
        size += (uint32_t)strlen(dead_letter);
    }
    put_string(out, word, size);
}

static void put_number(dice *d, wire *out) {
    int64_t value = below(d, 2000);
    value += below(d, 10) == 0 ? INT64_C(9007199254740000) : 0;
    below(d, 3) == 0 ? put_real(out, (double)value / 4) : put_integer(out, value);
}

static void put_operand(dice *d, wire *out, uint8_t op) {
    if (op >= TM_OP_PREFIX || below(d, 2)) {
        put_word(d, out, 5);
    } else {
        put_number(d, out);
    }
}

static void random_constraint(dice *d, wire *out) {
    do {
        uint8_t op = (uint8_t)below(d, TM_OP_CONTAINS + 1);
        uint32_t count = op == TM_OP_EXISTS ? 0 : op == TM_OP_BETWEEN ? 2 : op == TM_OP_IN ? 1 + below(d, 4) : 1;
        out->size = 0;
        put_array(out, 1);
        put_array(out, 2 + count);
        put_string(out, "x", 1);
        put_integer(out, op);
        for (uint32_t i = 0; i < count; i++) {
            put_operand(d, out, op);
        }
    } while (tm_filter_parse(out->bytes, out->size, &parsed) != TM_OK); /* a reversed between, or one of two kinds */
}

static bool is_held(const bench *b, uint32_t id) {
    return b->constraints.held[id].count > 0;
}

static void add_one(bench *b, dice *d) {
    uint32_t place = 0;
    uint32_t position = 0;
    bool made = false;
    kept one = {0};
    while (b->all[place].bytes != NULL) {
        place++;
    }
    random_constraint(d, &scratch);
    CHECK(tm_constraints_hold(&b->constraints, &parsed.constraints[0], &one.id, &made) == TM_OK, "hold");
    CHECK(made == !is_held(b, one.id), "made");
    if (!made) {
        return;
    }
    CHECK(tm_constraints_attach(&b->constraints, one.id, 7, &position) == TM_OK, "attach");
    CHECK(tm_name_index_add(&b->index, &b->constraints, b->kind, one.id) == TM_OK, "add");
    one.bytes = malloc(scratch.size);
    one.size = scratch.size;
    CHECK(one.bytes != NULL, "out of memory");
    memcpy(one.bytes, scratch.bytes, scratch.size);
    b->all[place] = one;
    b->live++;
}

static void remove_one(bench *b, dice *d) {
    uint32_t place = below(d, CONSTRAINTS_MAX);
    while (b->all[place].bytes == NULL) {
        place = (place + 1) % CONSTRAINTS_MAX;
    }
    uint32_t id = b->all[place].id;
    tm_constraints_detach(&b->constraints, id, 0);
    tm_name_index_remove(&b->index, &b->constraints, b->kind, id);
    tm_constraints_drop(&b->constraints, id);
    free(b->all[place].bytes);
    b->all[place] = (kept){0};
    b->live--;
}

typedef struct collector {
    tm_found found;
    bench *b;
} collector;

static void collect(tm_found *found) {
    bench *b = ((collector *)found)->b;
    for (uint32_t i = 0; i < found->count; i++) {
        CHECK(!b->found[found->batch[i]], "constraint %u is found twice", found->batch[i]);
        b->found[found->batch[i]] = true;
    }
}

static void match_one(bench *b, dice *d) {
    tm_attribute attribute;
    size_t count = 0;
    size_t used = 0;
    scratch.size = 0;
    put_map(&scratch, 1);
    put_string(&scratch, "x", 1);
    below(d, 3) == 0 ? put_number(d, &scratch) : put_word(d, &scratch, 12);
    CHECK(tm_attributes_decode(scratch.bytes, scratch.size, &attribute, &count, &used) == TM_OK, "decode");
    collector c = {.found = {.take = collect, .work.steps_max = UINT64_MAX, .message = ++b->messages}, .b = b};
    memset(b->found, 0, sizeof b->found);
    tm_name_index_match(&b->index, &b->constraints, b->kind, &attribute, &c.found);
    tm_found_flush(&c.found);
    for (uint32_t i = 0; i < CONSTRAINTS_MAX; i++) {
        const kept *one = &b->all[i];
        if (one->bytes != NULL) {
            CHECK(tm_filter_parse(one->bytes, one->size, &parsed) == TM_OK, "parse");
            bool holds = tm_constraint_holds(&parsed.constraints[0], &attribute);
            CHECK(b->found[one->id] == holds, "constraint %u (operator %u): %d", one->id, parsed.constraints[0].op,
                  holds);
        }
    }
}

static void check_index(const bench *b) {
    const char *reason = "";
    uint64_t operands = 0;
    int result = tm_name_index_validate(&b->index, b->kind, &operands, &reason);
    CHECK(result == TM_OK, "%s", reason);
    result = tm_constraints_validate(&b->constraints, &reason);
    CHECK(result == TM_OK, "%s", reason);
}

static void walk(const tm_text_class *class, uint64_t seed) {
    static bench b;
    dice d = {seed};
    b = (bench){.memory.key = tm_hash_key_of(seed)};
    CHECK(tm_constraints_init(&b.constraints, &b.memory) == TM_OK, "init");
    tm_trie_store_init(&b.store, &b.memory, &b.constraints.strings, &b.constraints);
    b.kind = (tm_text_kind){class, &b.store};
    for (uint32_t target = CONSTRAINTS_MAX; target > 0; target /= 3) {
        while (b.live < target) {
            add_one(&b, &d);
        }
        while (b.live > target) {
            remove_one(&b, &d);
            if (b.live % 50 == 0) {
                check_index(&b);
                match_one(&b, &d);
            }
        }
        check_index(&b);
        for (int i = 0; i < 60; i++) {
            match_one(&b, &d);
        }
    }
    while (b.live > 0) {
        remove_one(&b, &d);
    }
    check_index(&b);
    tm_name_index_free(&b.index, &b.memory, b.kind);
    tm_trie_store_free(&b.store);
    tm_constraints_free(&b.constraints);
    CHECK(b.memory.bytes == 0 && b.memory.hot_bytes == 0, "%lu bytes are left", (unsigned long)b.memory.bytes);
}

int main(void) {
    for (uint64_t seed = 1; seed <= 4; seed++) {
        walk(&tm_text_sets, seed);
        walk(&tm_text_trie, seed);
    }
    return 0;
}
