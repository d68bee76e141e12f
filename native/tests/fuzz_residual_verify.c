/* fuzz_residual_verify.c - libFuzzer target: any bytes as a residual program, run on no message.
 *
 * Law: bytes are refused with a reason or are a program, which cut off by a byte is none; it runs in at most a step for
 * each instruction, each constant of a set and each WORK bytes of its own texts, with one answer each time.
 */
#include <stdlib.h>

#include "residual/form.h"
#include "support.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Texts that a program makes itself have at most RESIDUAL_ARENA_BYTES, and a pattern of 1,024 bytes may be looked for
 * at each of their characters; a set has 64 values. */
#define STEPS_MAX ((uint64_t)RESIDUAL_INSTRUCTIONS_MAX * RESIDUAL_ARENA_BYTES * 1025 / RESIDUAL_TEXT_STEP_BYTES)

static int verify(const uint8_t *bytes, size_t size) {
    const char *reason = NULL;
    uint32_t place = 0;
    guarded copy = guard(bytes, size); /* a read of one byte too many is seen */
    int result = tm_residual_verify(copy.bytes, size, &reason, &place);
    CHECK((result == TM_OK) == (reason == NULL), "result %d", result);
    unguard(&copy);
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (verify(bytes, size) != TM_OK) {
        return 0;
    }
    CHECK(verify(bytes, size - 1) == TM_MALFORMED, "a program without its last byte is one");
    guarded program = guard(bytes, size);
    uint64_t steps = 0;
    uint64_t again = 0;
    int verdict = tm_residual_run(program.bytes, NULL, 0, STEPS_MAX, &steps);
    CHECK(verdict >= TM_RESIDUAL_FALSE && verdict <= TM_RESIDUAL_ERROR, "verdict %d after %llu steps", verdict,
          (unsigned long long)steps);
    CHECK(tm_residual_run(program.bytes, NULL, 0, steps, &again) == verdict && again == steps, "another answer");
    CHECK(tm_residual_run(program.bytes, NULL, 0, steps - 1, &again) == TM_RESIDUAL_OVER && again == steps,
          "a budget that does not suffice");
    unguard(&program);
    return 0;
}
