/* fuzz_matching.c - libFuzzer target: any bytes as a message, asked of a table of every engine.
 *
 * Law: every engine answers as the filters themselves say, reads nothing past the message, and is left valid.
 */
#include <string.h>

#include "fuzz_world.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static fuzz_message message;
    size_t used = 0;
    uint8_t *exact = fuzz_copy(bytes, size);
    if (tm_attributes_decode(exact, size, message.attributes, &message.count, &used) == TM_OK) {
        uint64_t expected[2];
        fuzz_turn turn = fuzz_turn_of(bytes, size);
        fuzz_expect(&message, expected);
        for (uint32_t engine = 0; engine < engines(); engine++) {
            fuzz_compare(engine, turn, &message, expected);
        }
    }
    free(exact);
    return 0;
}

size_t fuzz_drawn(dice *d, uint8_t *out, size_t capacity) {
    static wire message;
    random_message(d, &message);
    if (message.size > capacity) {
        return 0;
    }
    memcpy(out, message.bytes, message.size);
    return message.size;
}
