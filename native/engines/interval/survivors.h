/* survivors.h - the filters of a structure that remain after some of its axes: paper 003's intersection of sets.
 *
 * Law: on each axis a filter remains if it is in the set of the message's value, or has no predicate there. The cost is
 * counted in places of four bytes, the size of a pointer, and of 32 bits in the paper: two for each word of 64 of a
 * list of bits that is read, one for each pointer of a list of pointers. By that count the forms cross at 1/32.
 *
 *     bits and bits        word by word
 *     pointers and bits    each pointer is looked up
 *     pointers, pointers   merged; in a list more than 32 times as long each is searched
 */
#ifndef TM_INTERVAL_SURVIVORS_H
#define TM_INTERVAL_SURVIVORS_H

#include "engines/interval/structure.h"

/* Borrowed from a set, a tree or the room. */
typedef struct tm_survivors {
    const void *items; /* uint32_t ids that rise, or uint64_t words */
    uint32_t count;
    uint32_t words; /* of bits */
    bool is_bits;
    bool is_all; /* before the first axis: all filters of the structure */
} tm_survivors;

/* Scratch for the intersections of any structure. Owned by the engine. */
typedef struct tm_survivor_room {
    uint32_t *ids;
    uint64_t *words;
    uint32_t id_capacity;
    uint32_t word_capacity;
} tm_survivor_room;

/* Reserve room for this many seats. TM_NO_MEMORY: the room has not changed. */
int tm_survivor_room_reserve(tm_survivor_room *room, tm_memory *memory, uint32_t seats);
void tm_survivor_room_free(tm_survivor_room *room, tm_memory *memory);

/* Return all filters of a structure. */
tm_survivors tm_survivors_all(const tm_structure *structure);

/* Return those of `survivors` that remain on the axis, where the message's value has this set (NULL: it has no value).
 * Adds the cost to `*places`. */
tm_survivors tm_survivors_meet(tm_survivors survivors, const tm_structure *structure, const tm_axis *axis,
                               const tm_interval_set *set, uint32_t dense_from, tm_survivor_room *room,
                               uint64_t *places);

/* Return the survivors with as many words as the structure has, if they are bits: equal survivors are equal bytes. */
tm_survivors tm_survivors_padded(tm_survivors survivors, const tm_structure *structure, tm_survivor_room *room);

#endif
