/* queue.h - what waits for a receiver, and what happens where no more may. */
#ifndef TM_SWITCH_CONNECTIONS_QUEUE_H
#define TM_SWITCH_CONNECTIONS_QUEUE_H

#include "switch/state.h"

/* Room for a data frame of `size` bytes in the queue of a subscriber. Where the policy is to hold publishers back,
 * `publisher` (a connection) is held back for it. NULL: the message is dropped, counted, and the subscriber is told. */
uint8_t *switch_queue_delivery(tm_switch *sw, uint32_t subscriber, uint32_t size, uint32_t publisher);
/* Room for a data frame of `size` bytes in the queue of a link; NULL: the copy is dropped and counted, and Python tells
 * the neighbour (link_drops.c). */
uint8_t *switch_queue_onward(tm_switch *sw, uint32_t link, uint32_t size);
/* Tell a subscriber of losses that it has not been told of: where the gap is, if there is room. */
void switch_tell_losses(tm_switch *sw, uint32_t subscriber);
/* Tell a subscriber of its losses if they may be told before anything more is queued. */
void switch_tell_due_losses(tm_switch *sw, uint32_t subscriber);
/* Do what a shorter queue allows, after a part of it was sent: tell losses, unblock publishers. */
void switch_note_shorter(tm_switch *sw, uint32_t subscriber);

#endif
