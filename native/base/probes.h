/* probes.h - how far searches in hash tables go, counted for those who look whether keys collide.
 *
 * Law: a search is for a key that is there, and costs the slots it looks at; a table that chance alone has filled has
 * an average below three and a longest search of a few dozen.
 */
#ifndef TM_PROBES_H
#define TM_PROBES_H

#include "tm.h"

/* One more search: from its home to where the key stands, in a table of `capacity` slots. */
static inline void tm_probes_note(tm_probes *probes, uint32_t home, uint32_t at, uint32_t capacity) {
    uint32_t length = (at >= home ? at - home : at + capacity - home) + 1;
    probes->searches++;
    probes->slots += length;
    probes->longest = length > probes->longest ? length : probes->longest;
}

#endif
