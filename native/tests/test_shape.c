/* test_shape.c - messages read as being like the one before are compared with the same messages read on their own.
 *
 * Law: the verdict is the same, and so is every attribute that is handed on, whatever the bytes; of a message of the
 * shape those whose names were found unknown are missing, of any other none is. No byte behind the slack is read.
 */
#include <string.h>

#include "model/shape.h"
#include "support.h"

#define UNKNOWN 77U /* what a table would remember of a name without filters */
#define KNOWN 5U
static const uint64_t UNKNOWNS[2][SHAPE_TABLES] = {
    {UNKNOWN, SHAPE_NO_TABLE, SHAPE_NO_TABLE, SHAPE_NO_TABLE, SHAPE_NO_TABLE},
    {UNKNOWN, UNKNOWN, SHAPE_NO_TABLE, SHAPE_NO_TABLE, SHAPE_NO_TABLE}};
_Static_assert(SHAPE_TABLES == 5, "each table has an entry above");

static const tm_hash_key KEY = {.low = 1, .high = 3, .factor = 5};
static tm_shape shape;
static wire message;

static void same_attribute(const tm_attribute *a, const tm_attribute *b) {
    CHECK(a->name_length == b->name_length && memcmp(a->name, b->name, a->name_length) == 0, "names differ");
    CHECK(a->kind == b->kind && a->integer == b->integer && memcmp(&a->real, &b->real, sizeof a->real) == 0,
          "values differ");
    CHECK(a->length == b->length && (a->length == 0 || memcmp(a->string, b->string, a->length) == 0), "strings differ");
}

/* Those of `all` that are handed on, in the same order. */
static void compare(const tm_attribute *all, size_t all_count, const tm_attribute *some, size_t some_count,
                    bool is_like) {
    size_t at = 0;
    for (size_t i = 0; i < all_count; i++) {
        if (!is_like || shape.names[i].is_wanted) {
            CHECK(at < some_count, "an attribute is missing");
            same_attribute(&all[i], &some[at++]);
        }
    }
    CHECK(at == some_count, "%zu attributes, not %zu", some_count, at);
}

/* Read `message` both ways; returns whether the names were those of the shape. */
static bool read_both_ways(void) {
    static tm_attribute all[TM_ATTRIBUTES_MAX];
    static tm_attribute some[TM_ATTRIBUTES_MAX];
    size_t all_count = 0;
    size_t some_count = 0;
    size_t used = 0;
    uint64_t version = shape.version;
    size_t size = message.size;
    memset(message.bytes + size, 0xa3, TM_SHAPE_SLACK); /* what stands there is not taken for the message's */
    guarded copy = guard(message.bytes, size + TM_SHAPE_SLACK);
    int expected = tm_attributes_decode(copy.bytes, size, all, &all_count, &used);
    expected = expected == TM_OK && used != size ? TM_MALFORMED : expected;
    int result = tm_shape_decode(&shape, copy.bytes, size, some, &some_count);
    CHECK(result == expected, "%d, not %d", result, expected);
    bool is_like = shape.version == version;
    if (result == TM_OK) {
        compare(all, all_count, some, some_count, is_like);
    }
    unguard(&copy);
    return is_like;
}

/* Return the attribute of the shape that is kept, or its count: then none is. */
static uint32_t keep_one(dice *d, tm_kept_names *kept) {
    uint32_t at = below(d, shape.count + 1);
    if (at < shape.count) {
        const tm_shape_name *name = &shape.names[at];
        const uint8_t *spelled = shape.spelled + name->place + name->size - name->length;
        CHECK(tm_kept_names_add(kept, &KEY, spelled, name->length), "a name is kept already");
        CHECK(!tm_kept_names_add(kept, &KEY, spelled, name->length), "a name is new twice");
    }
    return at;
}

/* As a table would leave it behind. */
static void remember(dice *d) {
    tm_kept_names names = {0};
    uint32_t one = keep_one(d, &names);
    const tm_kept_names *kept_names = one < shape.count ? &names : NULL;
    for (uint32_t i = 0; i < shape.count; i++) {
        shape.memo[0][i] = below(d, 2) ? UNKNOWN : KNOWN + i;
        shape.memo[1][i] = below(d, 2) ? UNKNOWN : KNOWN + i;
    }
    uint64_t memo[SHAPE_TABLES][TM_ATTRIBUTES_MAX];
    memcpy(memo, shape.memo, sizeof memo);
    bool has_second = shape.unknown[1] != SHAPE_NO_TABLE;
    tm_shape_note_asked(&shape, 0);
    if (has_second) {
        tm_shape_trim(&shape, kept_names, &KEY);
        CHECK(!shape.is_trimmed, "the shape is trimmed before the second table");
        tm_shape_note_asked(&shape, 1);
    }
    tm_shape_trim(&shape, kept_names, &KEY);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < shape.count; i++) {
        bool is_wanted = memo[0][i] != UNKNOWN || (has_second && memo[1][i] != UNKNOWN) || i == one;
        CHECK(shape.names[i].is_wanted == is_wanted, "attribute %u", i);
        CHECK(!is_wanted || (shape.memo[0][kept] == memo[0][i] && shape.memo[1][kept] == memo[1][i]),
              "remembered data does not follow its attribute");
        kept += is_wanted;
    }
}

/* Change a byte, cut the end off, or lengthen it. */
static void spoil(dice *d) {
    switch (below(d, 4)) {
    case 0:
        message.size -= 1 + below(d, (uint32_t)message.size);
        break;
    case 1:
        message.bytes[message.size++] = (uint8_t)below(d, 256);
        break;
    default: {
        uint8_t byte = (uint8_t)below(d, 256);
        message.bytes[below(d, (uint32_t)message.size)] = byte;
    }
    }
}

static void test_random_messages(void) {
    dice d = {2026};
    uint32_t present = 0;
    uint32_t alike = 0;
    tm_shape_want_all(&shape, UNKNOWNS[0]);
    for (int i = 0; i < 60000; i++) {
        present = below(&d, 8) == 0 ? below(&d, RANDOM_SHAPES) : present;
        random_values(&d, present, &message);
        if (below(&d, 4) == 0) {
            spoil(&d);
        }
        alike += read_both_ways();
        if (!shape.is_trimmed && shape.count > 0) {
            remember(&d);
        } else if (below(&d, 20) == 0) {
            tm_shape_want_all(&shape, UNKNOWNS[below(&d, 2)]);
        }
    }
    CHECK(alike > 20000, "only %u messages were like the one before", alike);
}

/* Messages that differ in few bytes: of the layout of the one before, or nearly. */
static void test_layouts(void) {
    static wire like;
    dice d = {2027};
    uint32_t used = 0;
    for (int i = 0; i < 6000; i++) {
        random_values(&d, below(&d, RANDOM_SHAPES), &like);
        for (int j = 0; j < 20; j++) {
            message = like;
            for (uint32_t changes = below(&d, 4); changes > 0 && j > 3; changes--) {
                uint8_t *at = &message.bytes[below(&d, (uint32_t)message.size)];
                *at = (uint8_t)(below(&d, 2) ? below(&d, 256) : *at ^ 1U << below(&d, 8));
            }
            bool was_used = shape.layout.was_used;
            shape.layout.was_used = false;
            read_both_ways();
            used += shape.layout.was_used;
            shape.layout.was_used |= was_used;
            if (j == 2 && !shape.is_trimmed && shape.count > 0) {
                remember(&d);
            }
        }
    }
    CHECK(used > 3000, "only %u messages were of the layout", used);
    tm_shape_want_all(&shape, UNKNOWNS[0]);
}

/* Every first byte of a value, in front of bytes that may mean anything, before and behind a name of the shape. */
static void test_every_tag(void) {
    static const uint8_t fillings[] = {0x00, 0x7f, 0x80, 0xc3, 0xff};
    for (unsigned tag = 0; tag < 256; tag++) {
        for (unsigned filling = 0; filling < sizeof fillings; filling++) {
            for (uint32_t size = 0; size < 24; size++) {
                message.size = 0;
                put_map(&message, 2);
                put_string(&message, "x", 1);
                put_boolean(&message, true);
                put_string(&message, "y", 1);
                put_boolean(&message, true);
                read_both_ways();
                message.size -= 4;
                message.bytes[message.size++] = (uint8_t)tag;
                memset(message.bytes + message.size, fillings[filling], size);
                message.size += size;
                put_string(&message, "y", 1);
                message.bytes[message.size++] = (uint8_t)tag;
                memset(message.bytes + message.size, fillings[filling], size);
                message.size += size;
                read_both_ways();
            }
        }
    }
}

/* Names of every length, equal but for one byte anywhere, and lengths spelled longer than need be. */
static void test_long_names(void) {
    static uint8_t name[TM_NAME_BYTES_MAX];
    memset(name, 'n', sizeof name);
    for (uint32_t length = 1; length <= TM_NAME_BYTES_MAX; length++) {
        message.size = 0;
        put_map(&message, 1);
        put_string(&message, name, length);
        put_boolean(&message, true);
        read_both_ways();
        CHECK(read_both_ways(), "the same name, of %u bytes", length);
        size_t at = message.size - 2 - length / 3;
        message.bytes[at] ^= length < 3 ? 0 : 1;
        CHECK(length < 3 || !read_both_ways(), "another name of %u bytes", length);
    }
    static const uint8_t spelled_long[] = {0x81, 0xd9, 0x01, 'n', 0xc3};
    memcpy(message.bytes, spelled_long, sizeof spelled_long);
    message.size = sizeof spelled_long;
    read_both_ways();
    CHECK(shape.count == 0, "such a name is in the shape");
}

int main(void) {
    test_random_messages();
    test_layouts();
    test_every_tag();
    test_long_names();
    printf("messages similar to the previous one are read correctly\n");
    return 0;
}
