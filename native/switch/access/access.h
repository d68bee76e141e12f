/* access.h - where guards decide: at the door, as a message enters from a client, and at the hand, as one gets it.
 *
 * Law: a router decides about its own clients alone; a message between routers is judged where it entered. A client
 * that is not guarded is not restricted. Shapes leave no attribute out that a guard tests (model/shape.h).
 */
#ifndef TM_SWITCH_ACCESS_H
#define TM_SWITCH_ACCESS_H

#include "switch/message.h"
#include "switch/subscribers/guarded.h"

/* true if a message may enter from its client as it is, found out without a call; false: ask switch_may_enter */
__attribute__((noinline)) bool switch_enters_at_once(tm_switch *sw, const tm_message *message);

/* true if a message may enter from its client, after it got the client's stamp; false: `text`, with room for
 * TM_REASON_BYTES_MAX bytes and a zero, says why not. */
bool switch_may_enter(tm_switch *sw, tm_message *message, char *text);

/* true if a subscriber may get a message with these attributes, which has no form in the switch, by the guard `hand` */
bool switch_may_get(tm_switch *sw, uint32_t subscriber, uint32_t hand, const tm_attribute *attributes, size_t count);

/* true if a guard of this number exists, or it is TM_GUARD_NONE */
bool switch_knows_guard(const tm_switch *sw, uint32_t guard);

#endif
