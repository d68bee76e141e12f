/* write.h - what leaves: the sockets that queues are written to. */
#ifndef TM_SWITCH_CONNECTIONS_WRITE_H
#define TM_SWITCH_CONNECTIONS_WRITE_H

#include "switch/state.h"

/* `sent` bytes of what waits for a connection have gone. */
void switch_note_sent(tm_switch *sw, uint32_t connection, uint64_t sent);
void switch_flush(tm_switch *sw, uint32_t connection);
void switch_flush_dirty(tm_switch *sw);

#endif
