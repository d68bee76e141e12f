/* border.h - what may cross one link: the sources whose messages it brings, and messages by guards in each direction.
 *
 * Law: a link without a border costs nothing. Messages of a source that is not behind the other end have no route over
 * the link (Python sets none), so they are dropped for that; a border then says why. Copies for a link whose border has
 * a guard are looked at because its bound for them is 0 (connection.h).
 */
#ifndef TM_SWITCH_ACCESS_BORDER_H
#define TM_SWITCH_ACCESS_BORDER_H

#include "switch/message.h"

typedef struct tm_border {
    uint32_t in;
    uint32_t out;
    bool is_bounded; /* true if the link brings messages of the routers in `behind` alone */
    uint32_t count;
    uint64_t behind[]; /* ascending numbers */
} tm_border;

/* true if the message came over a link whose border does not let it bring messages of that source */
__attribute__((cold)) bool switch_is_barred(tm_switch *sw, const tm_message *message);
/* true if the message, which is decoded, may come over the link it came by; otherwise it is counted */
bool switch_may_come(tm_switch *sw, const tm_message *message);
/* true if copies for a link must be asked about */
bool switch_has_exit(tm_switch *sw, uint32_t link);
/* true if a copy of the message, which is decoded, may leave by the link; otherwise it is counted */
bool switch_may_go(tm_switch *sw, const tm_message *message, uint32_t link);
/* Free the border of a connection, if it has one. */
void switch_free_border(tm_switch *sw, tm_connection *connection);

#endif
