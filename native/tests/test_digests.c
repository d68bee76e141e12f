/* test_digests.c - what is remembered of values, against what the constants and patterns say each time.
 *
 * Law under test: a view is the same whether the value was remembered, is remembered now or never, while constants and
 * patterns come and go; a value that comes back stays remembered under a stream of values seen once; a growth that
 * fails changes nothing.
 */
#include <string.h>

#include "engines/onepath/values/digest.h"
#include "engines/onepath/values/patterns_pass.h"
#include "support.h"

#define VALUES 600U
#define STEPS 30000U
#define HOT 16U
#define SCRATCH 64U

typedef struct world {
    dice d;
    tm_memory memory;
    onepath_strings strings;
    onepath_patterns patterns;
    onepath_digests digests;
    uint32_t constants[VALUES];
    uint32_t held[VALUES]; /* ids of patterns, or TM_NO_PATTERN */
} world;

static uint32_t text_of(uint32_t i, uint8_t *out) {
    static const char *const FORMS[] = {"v%u", "value%u", "%u", "a.value.of.%u"};
    return (uint32_t)sprintf((char *)out, FORMS[i % 4], i / 4 * 7919 % 1000);
}

static bool view(world *w, const uint8_t *text, uint32_t length, uint32_t *scratch, onepath_view *out) {
    tm_work work = {0, UINT64_MAX};
    onepath_digests_view(&w->digests, &w->strings, &w->patterns, text, length, scratch, SCRATCH, out, &work);
    return work.steps == 0;
}

/* Was the value remembered? */
static bool check_view(world *w, uint32_t i) {
    uint8_t text[40];
    uint32_t length = text_of(i, text);
    uint32_t scratch[SCRATCH];
    uint32_t found[SCRATCH];
    onepath_view seen;
    bool remembered = view(w, text, length, scratch, &seen);
    tm_work work = {0, UINT64_MAX};
    uint32_t constant = onepath_strings_find(&w->strings, text, length);
    CHECK(seen.constant == constant, "constant of value %u", i);
    CHECK(seen.label == onepath_strings_label(&w->strings, TM_NO_STRING, text, length), "label of value %u", i);
    size_t count = onepath_patterns_find(&w->patterns, text, length, found, SCRATCH, &work);
    CHECK(seen.pattern_count == count && seen.patterns == scratch, "patterns of value %u", i);
    for (size_t at = 0; at < count; at++) {
        bool is_there = false;
        for (size_t other = 0; other < count; other++) {
            is_there = is_there || scratch[other] == found[at];
        }
        CHECK(is_there, "pattern %u of value %u", found[at], i);
    }
    return remembered;
}

static void change(world *w) {
    uint32_t i = below(&w->d, VALUES);
    uint8_t text[40];
    uint32_t length = text_of(i, text);
    bool ordered = i % 3 == 0;
    if (w->constants[i] == TM_NO_STRING) {
        w->constants[i] = onepath_strings_acquire(&w->strings, text, length, ordered);
        w->held[i] = onepath_patterns_acquire(&w->patterns, text, length < 3 ? length : 3, i % 3);
    } else {
        onepath_strings_release(&w->strings, w->constants[i], ordered);
        onepath_patterns_release(&w->patterns, w->held[i]);
        w->constants[i] = TM_NO_STRING;
    }
    w->memory.fail_in = below(&w->d, 3) == 0 ? 1 + below(&w->d, 2) : 0;
    onepath_digests_reserve(&w->digests, w->strings.live + w->patterns.count);
    w->memory.fail_in = 0;
}

static void begin(world *w) {
    *w = (world){.d = {.state = 5}, .memory = {.key = tm_hash_key_of(8)}};
    onepath_strings_init(&w->strings, &w->memory, false);
    onepath_patterns_init(&w->patterns, &w->memory);
    onepath_digests_init(&w->digests, &w->memory);
    for (uint32_t i = 0; i < VALUES; i++) {
        w->constants[i] = TM_NO_STRING;
    }
}

static void end(world *w) {
    onepath_digests_clear(&w->digests);
    onepath_patterns_clear(&w->patterns);
    onepath_strings_clear(&w->strings);
    CHECK(w->memory.bytes == 0, "%lu bytes are left", (unsigned long)w->memory.bytes);
}

static void test_views(void) {
    static world w;
    begin(&w);
    uint32_t remembered = 0;
    for (uint32_t step = 0; step < STEPS; step++) {
        if (step % 200 == 0) {
            for (uint32_t n = 0; n < 20; n++) {
                change(&w);
            }
        }
        remembered += check_view(&w, below(&w.d, step % 2 == 0 ? 30 : VALUES));
    }
    CHECK(remembered > STEPS / 4, "only %u views were reused", remembered);
    end(&w);
}

/* Values that come back, among as many that never do. */
static void test_hot_values_stay(void) {
    static world w;
    begin(&w);
    change(&w);
    onepath_digests_reserve(&w.digests, 1);
    uint32_t remembered = 0;
    uint32_t looks = 0;
    for (uint32_t round = 0; round < 200; round++) {
        for (uint32_t i = 0; i < HOT; i++, looks++) {
            remembered += check_view(&w, i);
        }
        for (uint32_t i = 0; i < HOT; i++) {
            uint8_t text[40];
            uint32_t scratch[SCRATCH];
            onepath_view seen;
            uint32_t length = (uint32_t)sprintf((char *)text, "once.%u.%u", round, i);
            view(&w, text, length, scratch, &seen);
        }
    }
    CHECK(remembered > looks * 3 / 4, "%u of %u", remembered, looks);
    end(&w);
}

int main(void) {
    test_views();
    test_hot_values_stay();
    printf("%u views of %u values\n", STEPS, VALUES);
    return 0;
}
