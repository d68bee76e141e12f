/* held.h - publishers that wait until each home has their message on its disk. */
#ifndef TM_DURABLE_CUSTODY_HELD_H
#define TM_DURABLE_CUSTODY_HELD_H

#include "durable/state.h"

/* Entry of tm_durable_ops (switch/durable.h). */
bool durable_is_awaited(tm_switch *sw, const tm_message *message);
/* Let a message wait for its homes and the disk here; false: there is no room for it. */
bool durable_await_homes(tm_switch *sw, const tm_held *message);
/* Answer messages whose records a home has, up to number `have`. */
void durable_release_held(tm_switch *sw, tm_held_queue *queue, uint64_t have);
/* Refuse messages above `after` and up to number `n` in the chain of a home. */
void durable_refuse_held(tm_switch *sw, tm_held_queue *queue, uint64_t after, uint64_t n, wire_refusal code,
                         const char *text);

#endif
