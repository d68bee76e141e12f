/* store.h - a message becomes one record of the log for all durable subscriptions that match it and have room. */
#ifndef TM_DURABLE_MESSAGES_STORE_H
#define TM_DURABLE_MESSAGES_STORE_H

#include "durable/state.h"

typedef enum {
    ARRIVING_STORED,
    ARRIVING_PASSES, /* nothing wants the message, or none of those who want it has room for it: they count the loss */
    ARRIVING_FAILS,  /* the log took nothing, and nothing has changed */
} tm_arriving;

/* Store message `n` of a chain for the durable subscriptions among the `count` matching rows. */
tm_arriving durable_store_arriving(tm_switch *sw, const tm_message *message, size_t count, uint64_t n);
/* Entries of tm_durable_ops (switch/durable.h). */
uint32_t durable_store(tm_switch *sw, const tm_message *message, size_t count);

#endif
