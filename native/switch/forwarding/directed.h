/* directed.h - a DIRECTED message: it is for one router, the home that it names, and goes there from next hop to next
 * hop. */
#ifndef TM_SWITCH_FORWARDING_DIRECTED_H
#define TM_SWITCH_FORWARDING_DIRECTED_H

#include "switch/message.h"

/* The place of a message in the chain from its entry router to a home. */
typedef struct tm_custody_place {
    uint64_t home;
    uint64_t home_log; /* id of the log of the home */
    uint64_t log;      /* of the entry, whose life is `life` and follows `before` */
    uint32_t life;
    uint32_t before;
    uint64_t n;
    uint64_t previous;
} tm_custody_place;

/* Return the place that a DIRECTED names, which is checked. */
static inline tm_custody_place switch_place_of(const uint8_t *frame) {
    return (tm_custody_place){.home = tm_load64(frame + WIRE_CUSTODY_HOME),
                              .home_log = tm_load64(frame + WIRE_CUSTODY_HOME_LOG),
                              .log = tm_load64(frame + WIRE_CUSTODY_LOG),
                              .life = tm_load32(frame + WIRE_CUSTODY_LIFE),
                              .before = tm_load32(frame + WIRE_CUSTODY_BEFORE),
                              .n = tm_load64(frame + WIRE_CUSTODY_NUMBER),
                              .previous = tm_load64(frame + WIRE_CUSTODY_PREVIOUS)};
}

/* Process a DIRECTED from a link. */
void switch_take_directed(tm_switch *sw, uint32_t connection, const uint8_t *frame, uint32_t size);

/* true if a stored frame has room for its place. */
bool switch_may_direct(const uint8_t *frame, uint32_t size);
/* Queue a stored frame, which has room for its place, as a DIRECTED of this router by the next hop to the home. false:
 * it cannot leave now, which is counted. */
bool switch_direct(tm_switch *sw, const uint8_t *frame, uint32_t size, const tm_custody_place *place);

#endif
