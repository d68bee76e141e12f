/* hands.h - which stored messages may be handed to which consumers.
 *
 * Law: a message is handed to a consumer if the guard of the subscription, which is that of its owner, and the guard of
 * the consumer let it pass. One that no consumer may get is held back: it stays open, and later ones go past it, until
 * a guard changes or a consumer comes. A message that was held back has no attempt.
 *
 *     rows   ... held ... looked at again ... fresh ...
 *                ^ again_n: rows from here on without an attempt may be delivered
 */
#ifndef TM_DURABLE_CONSUMERS_HANDS_H
#define TM_DURABLE_CONSUMERS_HANDS_H

#include "durable/state.h"

/* Find out which consumers may get a row (`may_get` of tm_consumer); true: none may, and the row is held back now. */
bool durable_hold_back(tm_switch *sw, uint32_t slot, tm_stored_row *row);
/* true if a consumer may get a past message */
bool durable_may_get(tm_switch *sw, uint32_t slot, uint32_t consumer, const tm_body *body);
/* Return the first row that was held back and is to be looked at again. NULL: there is none. */
tm_stored_row *durable_again(tm_durable *durable);
/* Look at all rows again that are held back. */
void durable_look_again(tm_switch *sw, uint32_t slot);
/* Return the number of rows that are held back. */
uint64_t durable_held(const tm_durable *durable);

#endif
