/* test_space.c - spaces from bytes of any kind, under failing allocations, and sentences of any length.
 *
 * Law: what tm_spaces_new refuses leaves no byte behind; what it accepts can be asked about any value, and every
 * violation has a sentence of valid UTF-8 within its bound. Whether the answers are right is for
 * tests/native/test_spaces.py.
 */
#include <string.h>

#include "base/utf8.h"
#include "model/space.h"
#include "support.h"

static wire packed;
static wire message;
static tm_attribute attributes[TM_ATTRIBUTES_MAX];

static void put_text(wire *out, dice *d, uint32_t most) {
    static const char DEAD_LETTERS[] = "ab\xc3\xa9";
    char text[400];
    uint32_t length = 0;
    for (uint32_t left = below(d, most + 1); left > 0; left--) {
        uint32_t dead_letter = below(d, 3);
        memcpy(text + length, DEAD_LETTERS + dead_letter, dead_letter == 2 ? 2 : 1);
        length += dead_letter == 2 ? 2 : 1;
    }
    put_string(out, text, length);
}

static void put_attribute(wire *out, dice *d) {
    uint32_t kind = below(d, DOMAIN_CHOICE + 1);
    int64_t low = (int64_t)below(d, 2000) - 1000;
    put_array(out, 8);
    put_text(out, d, 150);
    put_integer(out, below(d, 2));
    put_text(out, d, 150);
    put_integer(out, kind);
    put_integer(out, low);
    put_integer(out, low + below(d, 1000));
    put_integer(out, below(d, SPACE_DIGITS_MAX + 1));
    uint32_t values = kind == DOMAIN_CHOICE ? below(d, 4) : 0;
    put_array(out, values);
    for (; values > 0; values--) {
        put_text(out, d, 30);
    }
}

static void put_spaces(wire *out, dice *d) {
    uint32_t count = below(d, 3);
    out->size = 0;
    put_array(out, 5);
    put_text(out, d, 5);
    put_integer(out, below(d, 2));
    put_text(out, d, 150);
    put_array(out, count);
    for (uint32_t i = 0; i < count; i++) {
        put_text(out, d, 60);
    }
    put_array(out, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t fields = below(d, 5);
        put_array(out, 3);
        put_integer(out, below(d, 2));
        put_text(out, d, 150);
        put_array(out, fields);
        for (; fields > 0; fields--) {
            put_attribute(out, d);
        }
    }
}

static void say(const tm_spaces *spaces, tm_violation violation) {
    char text[SPACE_SENTENCE_BYTES + 1];
    memset(text, 0x7f, sizeof text);
    tm_violation_say(&violation, spaces, text);
    const char *end = memchr(text, '\0', sizeof text);
    size_t length = end == NULL ? sizeof text : (size_t)(end - text);
    CHECK(length > 0 && length <= SPACE_SENTENCE_BYTES, "%zu bytes", length);
    CHECK(tm_utf8_valid((const uint8_t *)text, length), "a character is cut");
}

/* Each value of a random message against each attribute of each space. */
static uint32_t ask(const tm_spaces *spaces, dice *d) {
    size_t count = 0;
    size_t used = 0;
    uint32_t asked = 0;
    random_message(d, &message);
    CHECK(tm_attributes_decode(message.bytes, message.size, attributes, &count, &used) == TM_OK, "decode");
    say(spaces,
        (tm_violation){spaces->naming.bytes, spaces->naming.length, SPACE_NONE, TEXTS_NONE, TM_VIOLATION_NO_SPACE});
    for (size_t i = 0; i < count; i++) {
        uint32_t named = tm_spaces_find(spaces, &attributes[i]);
        CHECK(named == SPACE_NONE || named < spaces->count, "space %u", named);
        for (uint32_t s = 0; s < spaces->count; s++) {
            const tm_space *space = &spaces->spaces[s];
            say(spaces,
                (tm_violation){attributes[i].name, attributes[i].name_length, s, TEXTS_NONE, TM_VIOLATION_UNDECLARED});
            for (uint32_t field = 0; field < space->names.count; field++, asked++) {
                unsigned why = tm_domain_violation(&space->attributes[field].domain, &attributes[i], spaces->memory);
                CHECK(why <= TM_VIOLATION_NOT_LISTED, "misfit %u", why);
                say(spaces, (tm_violation){attributes[i].name, attributes[i].name_length, s, field, why});
            }
        }
    }
    return asked;
}

/* TM_OK, or why not; without the memory that the n-th allocation needs, where n is not 0. */
static int try(tm_memory *memory, dice *d, uint64_t n, uint32_t *asked) {
    uint64_t bytes = memory->bytes;
    tm_spaces *spaces = NULL;
    guarded copy = guard(packed.bytes, packed.size);
    memory->fail_in = n;
    int result = tm_spaces_new(memory, copy.bytes, packed.size, &spaces);
    memory->fail_in = 0;
    unguard(&copy); /* what was built keeps bytes of its own */
    if (result == TM_OK) {
        *asked += ask(spaces, d);
        tm_spaces_free(spaces);
    }
    CHECK(memory->bytes == bytes, "%lu bytes are left behind", (unsigned long)(memory->bytes - bytes));
    return result;
}

static void mutate(dice *d) {
    for (uint32_t left = 1 + below(d, 3); left > 0; left--) {
        uint8_t byte = (uint8_t)roll(d);
        packed.bytes[below(d, (uint32_t)packed.size)] = byte;
    }
    packed.size -= below(d, 4) == 0 ? below(d, (uint32_t)packed.size) : 0;
}

int main(void) {
    tm_memory memory = {.key = tm_hash_key_of(7)};
    dice d = {1};
    uint32_t results[TM_MISUSED + 1] = {0};
    uint32_t asked = 0;
    for (uint32_t round = 0; round < 4000; round++) {
        put_spaces(&packed, &d);
        int result = try(&memory, &d, 0, &asked);
        results[result]++;
        for (uint64_t n = 1; result == TM_OK && n < 60; n++) {
            int failed = try(&memory, &d, n, &asked);
            results[failed]++;
            if (failed == TM_OK) {
                break;
            }
        }
        mutate(&d);
        results[try(&memory, &d, 0, &asked)]++;
    }
    CHECK(results[TM_OK] > 1000 && results[TM_MALFORMED] > 1000 && results[TM_NO_MEMORY] > 1000,
          "too few cases were tried");
    printf("%u taken, %u malformed, %u without memory, %u values asked about\n", results[TM_OK], results[TM_MALFORMED],
           results[TM_NO_MEMORY], asked);
    return 0;
}
