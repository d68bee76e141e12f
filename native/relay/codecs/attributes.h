/* attributes.h - the attributes of a message in JSON, packed as they are read.
 *
 * Law: a value is a string, a number, true or false, or an integer as text; what a message may not have is refused.
 */
#ifndef TM_RELAY_ATTRIBUTES_H
#define TM_RELAY_ATTRIBUTES_H

#include "relay/codecs/names.h"
#include "relay/codecs/scan.h"

typedef struct packing {
    uint8_t *at; /* borrowed: where the next pair is written */
    uint32_t pairs;
    const uint8_t *name; /* borrowed: what a refusal is about, decoded; of `name_size` bytes, 0: about nothing */
    uint32_t name_size;
    names names;
} packing;

/* Read the object of attributes whose brace is at the cursor; false: refused. */
bool attributes_take(scan *s, packing *p);

#endif
