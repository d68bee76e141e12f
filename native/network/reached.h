/* reached.h - the latest message of each source that arrived by each tree, while routes change.
 *
 * Law: for each pair of a source and a tree (a root, or 0: that of the source) the highest stamp since the last
 * `tm_reached_clear` is known. At the bound, or without memory, a new pair is not recorded and counts as not arrived.
 */
#ifndef TM_REACHED_H
#define TM_REACHED_H

#include "base/idset.h"

#define REACHED_MAX 16384U

typedef struct tm_reached_row {
    uint64_t source; /* number */
    uint64_t root;   /* number; 0: the tree of the source */
    uint64_t epoch;
    uint64_t counter;
} tm_reached_row;

typedef struct tm_reached {
    tm_memory *memory;    /* borrowed */
    tm_reached_row *rows; /* owned */
    uint32_t count;
    uint32_t capacity;
    tm_idset set; /* of rows + 1, by source and root */
} tm_reached;

void tm_reached_init(tm_reached *reached, tm_memory *memory);
/* Forget all pairs and free their memory. */
void tm_reached_clear(tm_reached *reached);
/* Record a message that has arrived, if it is the latest of its pair. */
void tm_reached_note(tm_reached *reached, const tm_reached_row *message);
/* true if this or a later message of its source has arrived by its tree */
bool tm_reached_has(const tm_reached *reached, const tm_reached_row *message);
bool tm_reached_is_sound(const tm_reached *reached);

#endif
