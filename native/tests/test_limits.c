/* test_limits.c - the far ends: numbers that run out, links and memory by the million, the longest strings, misuse. */
#include <string.h>

#include "engines/papers/counting.h"
#include "engines/registry.h"
#include "support.h"

static wire filter;
static wire message;
static tm_attribute attributes[TM_ATTRIBUTES_MAX];

/* The filter x >= value, or without a name the empty one. */
static void put_filter(const char *name, uint8_t op, int64_t value) {
    filter.size = 0;
    put_array(&filter, name != NULL);
    if (name != NULL) {
        put_array(&filter, 3);
        put_string(&filter, name, (uint32_t)strlen(name));
        put_integer(&filter, op);
        put_integer(&filter, value);
    }
}

static uint32_t add(tm_table *table, uint32_t interface) {
    uint32_t handle = 0;
    CHECK(tm_table_add(table, filter.bytes, filter.size, interface, &handle) == TM_OK, "add");
    return handle;
}

static size_t decode_x(int64_t value) {
    size_t count = 0;
    size_t used = 0;
    message.size = 0;
    put_map(&message, 1);
    put_string(&message, "x", 1);
    put_integer(&message, value);
    CHECK(tm_attributes_decode(message.bytes, message.size, attributes, &count, &used) == TM_OK, "decode");
    return count;
}

/* The numbers that seats and constraints remember messages by start over: what they remember must go. The core is the
 * first member of both engines that count. */
static void test_messages_run_out(const tm_engine_class *class) {
    tm_memory memory = {0};
    tm_holders holders;
    tm_marks marks = {0};
    tm_engine *engine = NULL;
    tm_filter *parsed = malloc(sizeof *parsed);
    uint32_t handle = 0;
    uint64_t values[TM_ENGINE_OPTIONS_MAX];
    tm_holders_init(&holders, &memory);
    CHECK(tm_engine_values(class, NULL, 0, values) == TM_OK, "standard options");
    CHECK(parsed != NULL && class->create(&memory, &holders, values, &engine) == TM_OK, "create");
    put_filter("x", TM_OP_GE, 3);
    CHECK(tm_filter_parse(filter.bytes, filter.size, parsed) == TM_OK, "parse");
    CHECK(tm_holders_take(&holders, 0, parsed->count, &handle) == TM_OK, "take");
    CHECK(tm_marks_reserve(&marks, &memory, holders.interface_count) == TM_OK, "marks");
    CHECK(class->add(engine, parsed, 0, handle) == TM_OK, "add");
    ((tm_counting *)engine)->message = 0xfffffe;
    tm_query query = {.group_count = 1};
    for (int i = 0; i < 6; i++) {
        uint32_t link = 9;
        tm_hits hits = {.groups = &link, .capacity = 1};
        tm_answer answer;
        size_t count = decode_x(i % 2 == 0 ? 3 : 2);
        tm_answer_begin(&answer, &holders, &marks, NULL, &query, &hits, (tm_work){count, 10});
        class->match(engine, attributes, count, &answer);
        CHECK(tm_answer_end(&answer) == TM_OK, "match");
        CHECK(hits.count == (i % 2 == 0), "message %d: %zu", i, hits.count);
    }
    class->destroy(engine);
    tm_holders_free(&holders);
    tm_marks_free(&marks, &memory);
    CHECK(memory.bytes == 0 && memory.hot_bytes == 0, "%lu bytes are left", (unsigned long)memory.bytes);
    free(parsed);
}

/* Interfaces by the thousand, grouped to links of which most have none; candidates left out. */
static void test_large_grouping(uint32_t engine) {
    enum { INTERFACES = 3000, LINKS = 100000 };
    tm_table *table = new_table(engine);
    uint32_t *grouping = calloc(INTERFACES, sizeof *grouping);
    uint64_t *candidates = calloc(LINKS / 64 + 1, sizeof *candidates);
    uint32_t *links = calloc(LINKS, sizeof *links);
    CHECK(grouping != NULL && candidates != NULL && links != NULL, "out of memory");
    for (uint32_t i = 0; i < INTERFACES; i++) {
        put_filter("x", TM_OP_GE, i % 100);
        add(table, i);
        grouping[i] = i % 50 * 2000;
    }
    for (uint32_t link = 0; link < LINKS; link += 4000) {
        candidates[link / 64] |= (uint64_t)1 << link % 64;
    }
    tm_query query = {.candidates = candidates, .group_count = LINKS};
    CHECK(tm_table_view(table, grouping, INTERFACES, &query.view) == TM_OK, "view");
    tm_hits hits = {.groups = links, .capacity = LINKS};
    size_t count = decode_x(20);
    CHECK(tm_table_match(table, attributes, count, &query, &hits) == TM_OK, "match");
    /* i % 50 is even and i % 100 at most 20: 0, 2 .. 20 */
    CHECK(hits.count == 11, "%zu links", hits.count);
    free(grouping);
    free(candidates);
    free(links);
    tm_table_free(table);
}

/* 64 KiB of one letter against all patterns of it, and one that does not occur. */
static void test_longest_string(uint32_t engine) {
    static char text[TM_STRING_BYTES_MAX];
    static uint8_t results[1];
    memset(text, 'a', sizeof text);
    tm_table *table = new_table(engine);
    for (uint32_t length = 1; length <= TM_PATTERN_BYTES_MAX; length++) {
        for (uint8_t op = TM_OP_PREFIX; op <= TM_OP_CONTAINS; op++) {
            filter.size = 0;
            put_array(&filter, 1);
            put_array(&filter, 3);
            put_string(&filter, "x", 1);
            put_integer(&filter, op);
            text[0] = length == 7 ? 'b' : 'a';
            put_string(&filter, text, length);
            add(table, length);
        }
    }
    text[0] = 'a';
    message.size = 0;
    put_map(&message, 1);
    put_string(&message, "x", 1);
    put_string(&message, text, sizeof text);
    uint64_t offsets[] = {0, message.size};
    uint64_t ends[1];
    uint32_t links[200];
    size_t done = 0;
    tm_query query = {.group_count = 200, .steps_max = UINT64_MAX}; /* `sff` takes 128 steps a byte */
    tm_hits hits = {.groups = links, .capacity = 200};
    CHECK(tm_table_match_batch(table, message.bytes, offsets, 1, &query, &hits, ends, results, &done) == TM_OK,
          "match");
    CHECK(done == 1 && results[0] == TM_OK && hits.count == TM_PATTERN_BYTES_MAX - 1, "%zu links", hits.count);
    tm_table_free(table);
}

/* A block that grows through the size where it gets a mapping of its own, and back. */
static void test_mapped_memory(void) {
    tm_memory memory = {0};
    size_t sizes[] = {100, 5 << 20, 3 << 20, 9 << 20, 4 << 20, 10};
    uint8_t *block = TM_NEW(&memory, TM_HOT, uint8_t, 10);
    CHECK(block != NULL, "new");
    memset(block, 7, 10);
    size_t old = 10;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        block = TM_RESIZE(&memory, TM_HOT, block, uint8_t, old, sizes[i]);
        CHECK(block != NULL && block[0] == 7 && block[9] == 7, "size %zu", sizes[i]);
        CHECK(memory.bytes >= sizes[i] && memory.bytes == memory.hot_bytes, "%lu bytes", (unsigned long)memory.bytes);
        old = sizes[i];
    }
    memory.fail_in = 2;
    block = TM_RESIZE(&memory, TM_HOT, block, uint8_t, old, 20);
    CHECK(block != NULL, "the next but one");
    CHECK(TM_NEW(&memory, TM_HOT, uint8_t, 1) == NULL, "the one that fails");
    TM_DELETE(&memory, TM_HOT, block, uint8_t, 20);
    CHECK(memory.bytes == 0, "%lu bytes are left", (unsigned long)memory.bytes);
}

static void test_misuse(uint32_t engine) {
    tm_table *table = new_table(engine);
    uint32_t links[4];
    uint32_t handle = 0;
    tm_query query = {.group_count = 4};
    tm_hits hits = {.capacity = 4};
    CHECK(tm_table_match(table, attributes, 0, &query, &hits) == TM_MISUSED, "no form of answer");
    hits.groups = links;
    query.mode = TM_MATCH_ALL;
    CHECK(tm_table_match(table, attributes, 0, &query, &hits) == TM_MISUSED, "no handles");
    query.mode = TM_MATCH_ALL + 1;
    CHECK(tm_table_match(table, attributes, 0, &query, &hits) == TM_MISUSED, "no such mode");
    query.mode = TM_MATCH_INTERFACES;
    query.view = 1;
    CHECK(tm_table_match(table, attributes, 0, &query, &hits) == TM_MISUSED, "no such view");
    CHECK(tm_table_drop_view(table, 1) == TM_ABSENT && tm_table_drop_view(table, 0) == TM_ABSENT, "no such view");
    CHECK(tm_table_view(table, NULL, 1, &query.view) == TM_MISUSED, "no links");
    query.view = 0;
    put_filter(NULL, 0, 0);
    CHECK(tm_table_add(table, filter.bytes, filter.size, TM_INTERFACES_MAX, &handle) == TM_MISUSED, "interface");
    handle = add(table, 2);
    CHECK(tm_table_set_interface(table, 2, TM_INTERFACE_CLIENT) == TM_MISUSED, "it has filters");
    CHECK(tm_table_set_interface(table, 3, 2) == TM_MISUSED, "no such kind");
    hits.capacity = 0;
    CHECK(tm_table_match(table, attributes, 0, &query, &hits) == TM_TOO_MANY && hits.count == 1, "no room");
    CHECK(tm_table_remove(table, handle) == TM_OK && tm_table_remove(table, handle) == TM_ABSENT, "twice");
    CHECK(tm_table_remove(table, 12345678) == TM_ABSENT, "never");
    CHECK(tm_table_add(NULL, filter.bytes, filter.size, 0, &handle) == TM_MISUSED, "no table");
    tm_table_free(table);
    tm_table_free(NULL);
}

int main(void) {
    test_messages_run_out(&tm_engine_counting);
    test_messages_run_out(&tm_engine_sff);
    test_mapped_memory();
    for (uint32_t engine = 0; engine < engines(); engine++) {
        test_large_grouping(engine);
        test_longest_string(engine);
        test_misuse(engine);
    }
    return 0;
}
