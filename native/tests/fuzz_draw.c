/* fuzz_draw.c - what makes up the inputs of fuzz_filter and fuzz_matching: one in four is sound, of the C tests' own
 * small alphabets, and the others are libFuzzer's changes of what it has.
 *
 * Law: nothing but the seed that libFuzzer gives decides what is drawn.
 */
#include "fuzz_world.h"

#define DRAWN_SHARE 4U

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t capacity);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t capacity, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t capacity, unsigned seed) {
    dice d = {seed};
    size_t drawn = below(&d, DRAWN_SHARE) == 0 ? fuzz_drawn(&d, bytes, capacity) : 0;
    return drawn > 0 ? drawn : LLVMFuzzerMutate(bytes, size, capacity);
}
