/* fuzz_durables.c - libFuzzer target: a history of durable subscriptions that the bytes choose, with frames of
 * consumers that are arbitrary bytes.
 *
 * Law: everything validates after each step, the output is whole frames, and no step takes long. In half of
 * the runs consumers send valid frames only, and no confirmed message may be missing in the end.
 */
#include <malloc.h>

#include "durables_world.h"

#define STEPS_MAX 400U

int LLVMFuzzerInitialize(int *count, char ***words);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* The process reuses the memory of a start except for the longest blocks: the system zeroes those page by page, as they
 * are used. */
int LLVMFuzzerInitialize(int *count, char ***words) {
    (void)count;
    (void)words;
    mallopt(M_MMAP_THRESHOLD, 512 << 10);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static durables_world w;
    if (size < 2) {
        return 0;
    }
    uint32_t choice = (bytes[0] >> 1) % 10;
    w = (durables_world){.choices = bytes + 1,
                         .choices_end = bytes + size,
                         .is_hostile = bytes[0] & 1,
                         .is_slow = choice == 9,
                         .starved = choice <= STARVED_TABLE ? (starved)choice : STARVED_NOBODY,
                         .kinds = DURABLES_ALL_KINDS};
    durables_begin(&w, bytes[0]);
    for (uint32_t step = 0; step < STEPS_MAX && durables_goes_on(&w); step++) {
        durables_step(&w);
    }
    if (!w.is_hostile) {
        durables_settle(&w);
    }
    durables_end(&w);
    return 0;
}
