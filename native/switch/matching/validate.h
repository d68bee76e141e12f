/* validate.h - which attributes of a message its space declares, looked up once for messages of one shape.
 *
 * Law: a tm_fit holds for one version of the shape, and is reset when the spaces change. A shape whose messages may
 * name a space decodes all of its attributes, because each of them is validated.
 */
#ifndef TM_FIT_H
#define TM_FIT_H

#include "model/space.h"

#define FIT_NONE UINT32_MAX
#define FIT_SKIPPED 254U    /* the attribute names the space, or is undeclared in an open space */
#define FIT_UNDECLARED 255U /* the space is closed and does not declare the name */

typedef struct tm_fit {
    uint64_t version; /* of the shape; 0: of none */
    uint32_t naming;  /* index of the attribute that names the space, or FIT_NONE */
    uint32_t space;   /* the last space that was named, which the other fields describe, or SPACE_NONE */
    uint32_t missing; /* first required field that the shape lacks, or FIT_NONE */
    uint8_t fields[TM_ATTRIBUTES_MAX]; /* for each attribute: its number in the space, or FIT_* */
} tm_fit;

typedef struct tm_message tm_message; /* message.h */

/* Return whether the message may enter by the spaces, of which there is at least one; false: `*out` is the violation.
 */
bool switch_fits(tm_switch *sw, tm_message *message, tm_violation *out);

#endif
