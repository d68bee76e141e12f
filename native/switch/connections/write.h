/* write.h - sending: queues are written to their sockets. */
#ifndef TM_SWITCH_CONNECTIONS_WRITE_H
#define TM_SWITCH_CONNECTIONS_WRITE_H

#include "switch/state.h"

/* Note that `sent` bytes of a connection's queue were sent. */
void switch_note_sent(tm_switch *sw, uint32_t connection, uint64_t sent);
/* Try to send the queue of a connection; of one without a socket, report that it has output. */
void switch_flush(tm_switch *sw, uint32_t connection);
/* Flush every dirty connection. */
void switch_flush_dirty(tm_switch *sw);

#endif
