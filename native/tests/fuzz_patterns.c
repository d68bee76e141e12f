/* fuzz_patterns.c - libFuzzer target: any bytes as patterns that come and go, and values that they are looked for in.
 *
 * Law: a pass finds exactly the patterns that the value has, each once, whatever was added and removed before, with
 * links that are fresh, stale or half computed; after each step the trie validates; without memory nothing changes.
 */
#include <string.h>

#include "engines/onepath/values/patterns.h"
#include "engines/onepath/values/patterns_pass.h"
#include "engines/onepath/values/patterns_validate.h"
#include "support.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define STORED_MAX 64U
#define PATTERN_MAX 12U
#define VALUE_MAX 40U
#define LONG_VALUE 20000U /* passed over in several places at once */

typedef struct kept {
    uint8_t text[PATTERN_MAX];
    uint32_t length;
    unsigned kind;
    uint32_t id;
} kept;

typedef struct input {
    const uint8_t *bytes;
    size_t left;
} input;

static kept all[STORED_MAX];
static uint32_t count;
static tm_memory memory;
static onepath_patterns patterns;

static uint8_t next_byte(input *in) {
    return in->left > 0 ? (in->left--, *in->bytes++) : 0;
}

/* Mostly of two letters, so that patterns nest and overlap. */
static uint32_t next_text(input *in, uint8_t *out, uint32_t length_max) {
    uint32_t length = next_byte(in) % (length_max + 1);
    for (uint32_t i = 0; i < length; i++) {
        uint8_t byte = next_byte(in);
        out[i] = byte < 240 ? (uint8_t)('a' + byte % 2) : byte;
    }
    return length;
}

/* ---- the model ---- */

static bool has(const kept *pattern, const uint8_t *value, size_t length) {
    if (pattern->length > length) {
        return false;
    }
    size_t last = length - pattern->length;
    size_t from = pattern->kind == ONEPATH_SUFFIX ? last : 0;
    size_t to = pattern->kind == ONEPATH_PREFIX ? 0 : last;
    for (size_t at = from; at <= to; at++) {
        if (memcmp(value + at, pattern->text, pattern->length) == 0) {
            return true;
        }
    }
    return false;
}

static void check_value(const uint8_t *value, size_t length) {
    uint32_t found[STORED_MAX * 2];
    tm_work work = {.steps_max = UINT64_MAX};
    size_t rows = onepath_patterns_find(&patterns, value, length, found, STORED_MAX * 2, &work);
    CHECK(rows <= count, "%zu patterns of %u in a value", rows, count);
    uint32_t distinct = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t times = 0;
        for (size_t row = 0; row < rows; row++) {
            times += found[row] == all[i].id;
        }
        CHECK(times == has(&all[i], value, length), "pattern %u of kind %u found %u times", i, all[i].kind, times);
        bool is_first = true;
        for (uint32_t before = 0; before < i; before++) {
            is_first &= all[before].id != all[i].id;
        }
        distinct += is_first && times > 0;
    }
    CHECK(distinct == rows, "%zu rows for %u patterns", rows, distinct);
}

/* ---- steps ---- */

static void add(input *in, unsigned how) {
    if (count == STORED_MAX) {
        return;
    }
    kept *fresh = &all[count];
    fresh->kind = how % ONEPATH_PATTERN_KINDS;
    fresh->length = next_text(in, fresh->text, PATTERN_MAX);
    memory.fail_in = how >= 64 ? how % 8 : 0;
    fresh->id = onepath_patterns_acquire(&patterns, fresh->text, fresh->length, fresh->kind);
    CHECK(fresh->id != TM_NO_PATTERN || how >= 64, "no memory");
    memory.fail_in = 0;
    uint8_t text[TM_PATTERN_BYTES_MAX];
    if (fresh->id != TM_NO_PATTERN) {
        uint32_t length = onepath_patterns_text(&patterns, fresh->id, text);
        CHECK(length == fresh->length && memcmp(text, fresh->text, length) == 0, "another text");
        count++;
    }
}

static void drop(uint32_t at) {
    onepath_patterns_release(&patterns, all[at].id);
    all[at] = all[--count];
}

static void match(input *in, bool is_long) {
    static uint8_t value[LONG_VALUE];
    size_t length = next_text(in, value, VALUE_MAX);
    if (is_long && length > 0) {
        for (size_t at = length; at < LONG_VALUE; at++) { /* repeated, with a letter changed now and then */
            value[at] = at % 1021 == 0 ? 'c' : value[at - length];
        }
        length = LONG_VALUE - next_byte(in);
    }
    check_value(value, length);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    input in = {bytes, size};
    memory.key = (tm_hash_key){.low = 0x9e3779b97f4a7c15U, .high = 0xe7037ed1a0b428dbU, .factor = 0xa0761d6478bd642fU};
    onepath_patterns_init(&patterns, &memory);
    while (in.left > 0) {
        uint8_t op = next_byte(&in);
        const char *reason = NULL;
        if (op % 4 == 0) {
            add(&in, op / 4 + (op >= 192 ? 64U : 0));
        } else if (op % 4 == 1 && count > 0) {
            drop(op / 4 % count);
        } else {
            match(&in, op > 250);
        }
        CHECK(onepath_patterns_validate(&patterns, &reason) == TM_OK, "%s", reason);
    }
    while (count > 0) {
        drop(count - 1);
    }
    onepath_patterns_clear(&patterns);
    CHECK(memory.bytes == 0, "%llu bytes are left", (unsigned long long)memory.bytes);
    return 0;
}
