/* queue.h - the queue of a receiver, and what happens when it is full. */
#ifndef TM_SWITCH_CONNECTIONS_QUEUE_H
#define TM_SWITCH_CONNECTIONS_QUEUE_H

#include "switch/state.h"

/* Reserve a data frame of `size` bytes in the queue of a subscriber. If its policy is to block, credit is withheld from
 * `publisher` (a connection). NULL: the message is dropped and counted, and the loss is reported to the subscriber. */
uint8_t *switch_queue_delivery(tm_switch *sw, uint32_t subscriber, uint32_t size, uint32_t publisher);
/* Reserve a data frame of `size` bytes in the queue of a link; NULL: the copy is dropped and counted, and Python
 * reports it to the neighbour (link_drops.c). */
uint8_t *switch_queue_onward(tm_switch *sw, uint32_t link, uint32_t size);
/* The same for a link whose border has a guard for copies, and let this one leave; there switch_queue_onward returns
 * NULL and counts nothing. */
uint8_t *switch_queue_allowed(tm_switch *sw, uint32_t link, uint32_t size);
/* Report unreported losses to a subscriber at the position of the gap, if there is room. */
void switch_tell_losses(tm_switch *sw, uint32_t subscriber);
/* Report losses to a subscriber if their position is reached before anything more is queued. */
void switch_tell_due_losses(tm_switch *sw, uint32_t subscriber);
/* Do what a shorter queue permits after a part of it was sent: unblock publishers and reset the slow state. */
void switch_note_shorter(tm_switch *sw, uint32_t subscriber);

#endif
