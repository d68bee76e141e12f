/* test_constants.c - constants of order in chunks and their labels, against comparisons made another way.
 *
 * Law under test: whatever order constants come and go in, a value's label lies to the label of each constant as the
 * value to the constant; no join moves more labels than a bounded number on average; an allocation that fails leaves
 * everything as it was, and the last constant takes all memory with it.
 */
#include <string.h>

#include "engines/onepath/state.h"
#include "engines/onepath/values/labels.h"
#include "model/filter.h"
#include "model/number.h"
#include "support.h"

#define CONSTANTS 3000U
#define TEXT_BYTES 40U
#define SAMPLES 24U
#define MOVED_MAX 64U /* labels that a join moves on average, at the worst of these orders */

/* What constants look like. */
typedef enum { WORDS, SHARED, NUMBERS, KINDS } kind;

/* The order in which they come. */
typedef enum { ANY, RISING, FALLING, BEFORE_LAST, WINDOW, COMINGS } coming;

typedef struct world {
    dice d;
    tm_memory memory;
    onepath_strings strings;
    kind of;
    coming by;
    bool held[CONSTANTS];
    uint32_t ids[CONSTANTS];
} world;

/* Constant number i: of NUMBERS and SHARED they rise with i. */
static uint32_t text_of(const world *w, uint32_t i, uint8_t *out) {
    double real = ((double)i - 1500) / 7;
    bool is_real = real != (double)(int64_t)real;
    switch (w->of) {
    case NUMBERS:
        onepath_number_bytes(is_real, (int64_t)real, real, out);
        return ONEPATH_NUMBER_BYTES;
    case SHARED:
        return (uint32_t)sprintf((char *)out, "sensors.of.the.plant.%06u", i);
    default:
        return (uint32_t)sprintf((char *)out, "%x", i * 2654435761U) - i % 5 % (i % 7 + 1) % 3;
    }
}

static int compare(const world *w, uint32_t a, uint32_t b) {
    uint8_t texts[2][TEXT_BYTES];
    uint32_t lengths[2] = {text_of(w, a, texts[0]), text_of(w, b, texts[1])};
    if (w->of == NUMBERS) {
        return (a > b) - (a < b);
    }
    int order = memcmp(texts[0], texts[1], lengths[0] < lengths[1] ? lengths[0] : lengths[1]);
    return order != 0 ? order : (lengths[0] > lengths[1]) - (lengths[0] < lengths[1]);
}

static void check_labels(world *w) {
    const char *reason = "";
    CHECK(onepath_strings_validate(&w->strings, &reason) == TM_OK, "%s", reason);
    for (uint32_t n = 0; n < SAMPLES; n++) {
        uint8_t text[TEXT_BYTES];
        uint32_t value = below(&w->d, CONSTANTS);
        uint32_t length = text_of(w, value, text);
        uint32_t constant = n % 2 == 0 ? onepath_strings_find(&w->strings, text, length) : TM_NO_STRING;
        int64_t label = onepath_strings_label(&w->strings, constant, text, length);
        for (uint32_t i = 0; i < CONSTANTS; i++) {
            if (w->held[i]) {
                int64_t there = w->strings.labels[w->ids[i]];
                int order = compare(w, value, i);
                CHECK((label > there) - (label < there) == (order > 0) - (order < 0), "value %u, constant %u", value,
                      i);
            }
        }
    }
}

/* Step by step: which constant comes next. */
static uint32_t next_of(world *w, uint32_t step) {
    switch (w->by) {
    case RISING:
    case WINDOW:
        return step % CONSTANTS;
    case FALLING:
        return CONSTANTS - 1 - step % CONSTANTS;
    case BEFORE_LAST: /* the ends, and then always just below the upper half, and just above the lower one */
        return step % 2 == 0 ? step / 2 % (CONSTANTS / 2) : CONSTANTS - 1 - step / 2 % (CONSTANTS / 2);
    default:
        return below(&w->d, CONSTANTS);
    }
}

static void toggle(world *w, uint32_t i) {
    uint8_t text[TEXT_BYTES];
    uint32_t length = text_of(w, i, text);
    if (w->held[i]) {
        w->memory.fail_in = below(&w->d, 4) == 0 ? 1 : 0;
        onepath_strings_release(&w->strings, w->ids[i], true);
        w->memory.fail_in = 0;
        w->held[i] = false;
        return;
    }
    w->memory.fail_in = below(&w->d, 4) == 0 ? 1 + below(&w->d, 4) : 0;
    uint32_t id = onepath_strings_acquire(&w->strings, text, length, true);
    w->memory.fail_in = 0;
    w->held[i] = id != TM_NO_STRING;
    w->ids[i] = id;
}

static void walk(kind of, coming by) {
    static world w;
    memset(&w, 0, sizeof w);
    w = (world){.d = {.state = 1 + of * 10 + by}, .memory = {.key = tm_hash_key_of(4)}, .of = of, .by = by};
    onepath_strings_init(&w.strings, &w.memory, of == NUMBERS);
    for (uint32_t step = 0; step < 5 * CONSTANTS; step++) {
        toggle(&w, next_of(&w, step));
        if (by == WINDOW && step >= 100) {
            uint32_t behind = (step - 100) % CONSTANTS;
            if (w.held[behind]) {
                toggle(&w, behind);
            }
        }
        if (step % 997 == 0 || step + 1 == 2 * CONSTANTS) {
            check_labels(&w);
        }
    }
    check_labels(&w);
    for (uint32_t i = 0; i < CONSTANTS; i++) {
        if (w.held[i]) {
            onepath_strings_release(&w.strings, w.ids[i], true);
        }
    }
    CHECK(w.memory.bytes == 0, "%lu bytes are left", (unsigned long)w.memory.bytes);
    onepath_strings_clear(&w.strings);
}

/* The labels that differ from those before, but for that of `fresh`. */
static uint64_t moved_since(const onepath_strings *strings, int64_t *before, uint32_t fresh) {
    uint64_t moved = 0;
    for (uint32_t id = 0; id < strings->record_count; id++) {
        moved += id != fresh && strings->labels[id] != before[id];
        before[id] = strings->labels[id];
    }
    return moved;
}

/* A label rarely moves, whatever the order: between two constants there are always more. */
static void test_few_labels_move(coming by) {
    static int64_t before[CONSTANTS];
    static world w;
    w = (world){.d = {.state = 77}, .memory = {.key = tm_hash_key_of(4)}, .of = SHARED, .by = by};
    onepath_strings_init(&w.strings, &w.memory, false);
    uint64_t moved = 0;
    for (uint32_t step = 0; step < CONSTANTS; step++) {
        uint8_t text[TEXT_BYTES];
        uint32_t id = onepath_strings_acquire(&w.strings, text, text_of(&w, next_of(&w, step), text), true);
        moved += moved_since(&w.strings, before, id);
    }
    CHECK(moved < (uint64_t)MOVED_MAX * CONSTANTS, "%lu labels moved", (unsigned long)moved);
    onepath_strings_clear(&w.strings);
}

/* Numbers of every size sort as they compare. */
static void test_words_of_numbers(void) {
    static const double REALS[] = {-1e300, -0x1p63 - 4096, -1e18 - 512, -3.5,       -0.5, -1e-300,
                                   1e-300, 0.25,           0.5,         1e15 + 0.5, 1e300};
    static const int64_t INTEGERS[] = {INT64_MIN,
                                       -(INT64_C(1) << 60) - 1,
                                       -3,
                                       -1,
                                       0,
                                       1,
                                       3,
                                       (INT64_C(1) << 53) + 1,
                                       (INT64_C(1) << 53) + 2,
                                       INT64_MAX - 1,
                                       INT64_MAX};
    enum { REAL_COUNT = sizeof REALS / sizeof *REALS, COUNT = REAL_COUNT + sizeof INTEGERS / sizeof *INTEGERS };
    tm_memory memory = {.key = tm_hash_key_of(5)};
    onepath_strings numbers;
    uint32_t ids[COUNT];
    onepath_strings_init(&numbers, &memory, true);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint8_t bytes[ONEPATH_NUMBER_BYTES];
        bool is_real = i < REAL_COUNT;
        onepath_number_bytes(is_real, is_real ? 0 : INTEGERS[i - REAL_COUNT], is_real ? REALS[i] : 0, bytes);
        ids[i] = onepath_strings_acquire(&numbers, bytes, sizeof bytes, true);
    }
    const char *reason = "";
    CHECK(onepath_strings_validate(&numbers, &reason) == TM_OK, "%s", reason);
    for (uint32_t i = 0; i < COUNT; i++) {
        for (uint32_t j = 0; j < COUNT; j++) {
            bool reals[2] = {i < REAL_COUNT, j < REAL_COUNT};
            int order = tm_number_compare(reals[0] ? 0 : INTEGERS[i - REAL_COUNT], reals[0] ? REALS[i] : 0, reals[0],
                                          reals[1] ? 0 : INTEGERS[j - REAL_COUNT], reals[1] ? REALS[j] : 0, reals[1]);
            int64_t a = numbers.labels[ids[i]];
            int64_t b = numbers.labels[ids[j]];
            CHECK((a > b) - (a < b) == order, "numbers %u and %u", i, j);
        }
    }
    onepath_strings_clear(&numbers);
    CHECK(memory.bytes == 0, "%lu bytes are left", (unsigned long)memory.bytes);
}

int main(void) {
    for (unsigned of = 0; of < KINDS; of++) {
        for (unsigned by = 0; by < COMINGS; by++) {
            walk(of, by);
        }
    }
    for (unsigned by = 0; by < COMINGS; by++) {
        test_few_labels_move(by);
    }
    test_words_of_numbers();
    printf("%u constants of %u kinds in %u orders\n", CONSTANTS, KINDS, COMINGS);
    return 0;
}
