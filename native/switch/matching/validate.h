/* validate.h - which attributes of a message are those of its space: looked up once for messages of one shape.
 *
 * Law: it holds for one version of the shape, and is forgotten when the spaces change. A shape whose messages may name
 * a space has all of its attributes handed on, as each is to be checked.
 */
#ifndef TM_FIT_H
#define TM_FIT_H

#include "model/space.h"

#define FIT_NONE UINT32_MAX
#define FIT_SKIPPED 254U    /* the attribute that names the space; or the space is open */
#define FIT_UNDECLARED 255U /* the space is closed, and has none of that name */

typedef struct tm_fit {
    uint64_t version;                  /* of the shape; 0: of none */
    uint32_t naming;                   /* the attribute that names the space, or FIT_NONE */
    uint32_t space;                    /* the last that was named, for which the rest is, or SPACE_NONE */
    uint32_t missing;                  /* the first field that is required and not there, or FIT_NONE */
    uint8_t fields[TM_ATTRIBUTES_MAX]; /* of each attribute: its number in the space, or FIT_* */
} tm_fit;

typedef struct tm_message tm_message; /* message.h */

/* May the message enter, by the spaces that are known? false: `*out` says why not. There are spaces. */
bool switch_fits(tm_switch *sw, tm_message *message, tm_violation *out);

#endif
