/* survivors.h - what is left of the filters of a structure after some of its axes: paper 003's intersection of sets.
 *
 * Law: on each axis a filter stays that is in the set of the message's value, or has no predicate there. What it costs
 * is counted in places of four bytes, which is what a pointer takes, and what 32 bits take in the paper: of each list
 * of bits that is read two places for a word of 64, of each list of pointers one for each. That is where the forms
 * cross at 1/32.
 *
 *     bits and bits        word by word
 *     pointers and bits    each pointer is looked up
 *     pointers, pointers   merged; of a list more than 32 times as long each is searched
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
    bool is_all; /* no axis has been looked at: all filters of the structure */
} tm_survivors;

/* Scratch for the intersections of any structure. Owned by the engine. */
typedef struct tm_survivor_room {
    uint32_t *ids;
    uint64_t *words;
    uint32_t id_capacity;
    uint32_t word_capacity;
} tm_survivor_room;

/* Room for so many seats. TM_NO_MEMORY: it is as it was. */
int tm_survivor_room_reserve(tm_survivor_room *room, tm_memory *memory, uint32_t seats);
void tm_survivor_room_free(tm_survivor_room *room, tm_memory *memory);

/* All filters of a structure. */
tm_survivors tm_survivors_all(const tm_structure *structure);

/* Those of `survivors` that stay on the axis, where the message's value has this set (NULL: it has no value). Adds what
 * that costs to `*places`. */
tm_survivors tm_survivors_meet(tm_survivors survivors, const tm_structure *structure, const tm_axis *axis,
                               const tm_interval_set *set, uint32_t dense_from, tm_survivor_room *room,
                               uint64_t *places);

/* The same with as many words as the structure has, if they are bits: equal survivors are equal bytes. */
tm_survivors tm_survivors_padded(tm_survivors survivors, const tm_structure *structure, tm_survivor_room *room);

#endif
