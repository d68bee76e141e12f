/* held.h - publishers that wait until each home has their message on its disk. */
#ifndef TM_DURABLE_CUSTODY_HELD_H
#define TM_DURABLE_CUSTODY_HELD_H

#include "durable/state.h"

/* Entry of tm_durable_ops (switch/durable.h). */
bool durable_is_awaited(tm_switch *sw, const tm_message *message);
typedef enum {
    HOMES_AWAITED,
    HOMES_WITHOUT_ROOM, /* the message cannot wait */
    HOMES_TOO_FEW,      /* fewer homes have a copy than the message needs */
} tm_homes_awaited;

/* Let the current message wait for its homes and the disk here. */
tm_homes_awaited durable_await_homes(tm_switch *sw, tm_held *message);
/* Answer messages whose records a home has, up to number `have`. */
void durable_release_held(tm_switch *sw, tm_held_queue *queue, uint64_t have);
/* Refuse messages that a disk does not get and need it. */
void durable_refuse_held(tm_switch *sw, tm_held_queue *queue, tm_held_loss loss, wire_refusal code, const char *text);

#endif
