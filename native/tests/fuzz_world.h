/* fuzz_world.h - the tables that fuzzed filters and messages meet: two of each engine, one with its options as they
 * are and one with others, all with the same filters.
 *
 * Law: an execution asks one of the two of each engine; which one, and whether it asks all that can be asked, is
 * decided by the input alone, so that the same input fails again.
 */
#ifndef TM_FUZZ_WORLD_H
#define TM_FUZZ_WORLD_H

#include "support.h"

#define FUZZ_FILTERS 60U
#define FUZZ_INTERFACES 20U    /* of those filters */
#define FUZZ_NEW_INTERFACE 21U /* of a filter that is fuzzed */

/* A message, decoded. It borrows from the bytes that it was decoded from. */
typedef struct fuzz_message {
    tm_attribute attributes[TM_ATTRIBUTES_MAX];
    size_t count;
} fuzz_message;

/* What one execution asks. */
typedef struct fuzz_turn {
    unsigned variant; /* which of the two tables of an engine */
    bool is_thorough; /* validate, and ask in every form; one execution in 256 */
} fuzz_turn;

fuzz_turn fuzz_turn_of(const uint8_t *bytes, size_t size);

/* The table of an engine, which is made when it is first asked for, and its filters. */
tm_table *fuzz_table(uint32_t engine, unsigned variant);
twin *fuzz_twin(uint32_t engine, unsigned variant);

/* The interfaces that want the message, as the filters themselves say: bit i of two words. All tables have the same. */
void fuzz_expect(const fuzz_message *message, uint64_t expected[2]);
/* The table says so as well. Thorough: whatever it is asked, and it is valid. */
void fuzz_compare(uint32_t engine, fuzz_turn turn, const fuzz_message *message, const uint64_t expected[2]);

/* A copy in a block of exactly that size, so that the sanitizer sees a read of one byte too many; yours to free. */
uint8_t *fuzz_copy(const uint8_t *bytes, size_t size);

/* A sound input of the target in `out`, of at most `capacity` bytes; its size, 0: there is no room. Each target has its
 * own: fuzz_draw.c mixes them into what the fuzzer makes up. */
size_t fuzz_drawn(dice *d, uint8_t *out, size_t capacity);

#endif
