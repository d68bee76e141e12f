/* test_patterns.c - the patterns of a table, come and gone by dice; and what the worst of them cost.
 *
 * Law: that of fuzz_patterns.c, whose input the dice are. The steps that a pass counts are bounded for each byte.
 */
#include "fuzz_patterns.c"

#define RUNS 400U
#define INPUT_BYTES 3000U
#define BYTE_STEPS_MAX 4U /* half a step, and at most two looks further: a failure link for each byte taken */

static void try_dice(uint64_t seed) {
    static uint8_t bytes[INPUT_BYTES];
    dice d = {seed};
    for (uint32_t i = 0; i < INPUT_BYTES; i++) {
        bytes[i] = (uint8_t)roll(&d);
    }
    LLVMFuzzerTestOneInput(bytes, INPUT_BYTES);
}

/* As many patterns of as many letters, in a value that they nearly are in everywhere. */
static void check_cost(uint32_t dead_letters, uint32_t wanted, uint32_t length) {
    static uint8_t value[TM_STRING_BYTES_MAX];
    uint8_t text[TM_PATTERN_BYTES_MAX];
    dice d = {dead_letters};
    onepath_patterns_init(&patterns, &memory);
    for (uint32_t i = 0; i < wanted; i++) {
        for (uint32_t at = 0; at < length; at++) {
            text[at] = (uint8_t)('a' + below(&d, dead_letters));
        }
        CHECK(onepath_patterns_acquire(&patterns, text, length, ONEPATH_CONTAINS) != TM_NO_PATTERN, "no memory");
    }
    for (uint32_t at = 0; at < sizeof value; at++) {
        value[at] = (uint8_t)('a' + below(&d, dead_letters));
    }
    for (uint32_t pass = 0; pass < 2; pass++) {
        tm_work work = {.steps_max = UINT64_MAX};
        onepath_patterns_find(&patterns, value, sizeof value, NULL, 0, &work);
        CHECK(pass == 0 || work.steps <= (uint64_t)BYTE_STEPS_MAX * sizeof value, "%llu steps of %u letters",
              (unsigned long long)work.steps, dead_letters);
    }
    onepath_patterns_clear(&patterns);
}

int main(void) {
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        try_dice(seed);
    }
    const uint32_t dead_letters[] = {1, 2, 4, 26};
    for (uint32_t i = 0; i < 4; i++) {
        check_cost(dead_letters[i], 2000, 20);
        check_cost(dead_letters[i], 500, TM_PATTERN_BYTES_MAX);
    }
    puts("ok");
    return 0;
}
