/* probes.h - lengths of searches in hash tables, to detect colliding keys.
 *
 * Law: a search is for a key that is present, and costs the slots it reads; a table filled by chance has
 * an average below three and a longest search of a few dozen.
 */
#ifndef TM_PROBES_H
#define TM_PROBES_H

#include "tm.h"

/* Count a search from its home to the slot of the key, in a table of `capacity` slots. */
static inline void tm_probes_note(tm_probes *probes, uint32_t home, uint32_t at, uint32_t capacity) {
    uint32_t length = (at >= home ? at - home : at + capacity - home) + 1;
    probes->searches++;
    probes->slots += length;
    probes->longest = length > probes->longest ? length : probes->longest;
}

#endif
