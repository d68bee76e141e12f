/* fuzz_residual.c - libFuzzer target: any bytes as a residual program, then any as a message: [size of the program, 2
 * bytes] program message.
 *
 * Law: a program that was verified answers within its budget, reads nothing but the program and the message, and gives
 * the same answer with exactly the steps that it took; with any less it says that they do not suffice.
 */
#include <stdlib.h>

#include "residual/form.h"
#include "support.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define BUDGET 1000000U
#define SIZE_BYTES 2U

static void run(const uint8_t *program, const tm_attribute *attributes, size_t count, uint64_t below) {
    uint64_t steps = 0;
    uint64_t again = 0;
    int verdict = tm_residual_run(program, attributes, count, BUDGET, &steps);
    if (verdict == TM_RESIDUAL_OVER) {
        CHECK(steps == BUDGET + 1, "%llu steps", (unsigned long long)steps);
        return;
    }
    CHECK(verdict >= TM_RESIDUAL_FALSE && verdict <= TM_RESIDUAL_ERROR && steps >= 1 && steps <= BUDGET, "verdict %d",
          verdict);
    CHECK(tm_residual_run(program, attributes, count, steps, &again) == verdict && again == steps, "another answer");
    uint64_t less = below % steps;
    CHECK(tm_residual_run(program, attributes, count, less, &again) == TM_RESIDUAL_OVER && again == less + 1,
          "%llu of %llu steps suffice", (unsigned long long)less, (unsigned long long)steps);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    tm_attribute attributes[TM_ATTRIBUTES_MAX];
    const char *reason;
    uint32_t place;
    size_t count = 0;
    size_t used = 0;
    if (size < SIZE_BYTES) {
        return 0;
    }
    size_t wanted = (size_t)bytes[0] << 8 | bytes[1];
    size_t left = size - SIZE_BYTES;
    size_t program_size = wanted < left ? wanted : left;
    guarded program = guard(bytes + SIZE_BYTES, program_size);
    guarded message = guard(bytes + SIZE_BYTES + program_size, left - program_size);
    if (tm_residual_verify(program.bytes, program_size, &reason, &place) == TM_OK) {
        if (tm_attributes_decode(message.bytes, left - program_size, attributes, &count, &used) != TM_OK) {
            count = 0;
        }
        run(program.bytes, attributes, count, bytes[0]);
    }
    unguard(&message);
    unguard(&program);
    return 0;
}
