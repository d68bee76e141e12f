/* read.h - the bytes of a connection, split into whole frames. */
#ifndef TM_SWITCH_READ_H
#define TM_SWITCH_READ_H

#include "switch/state.h"

/* Read a socket once and process the bytes; the connection ends if the peer has closed or the socket failed. */
void switch_read(tm_switch *sw, uint32_t connection);
/* Process bytes that were fed to a connection without a socket, or keep them while it waits. */
void switch_take(tm_switch *sw, uint32_t connection, const uint8_t *bytes, size_t size);
/* Process the input that was buffered while the connection waited. */
void switch_process_partial(tm_switch *sw, uint32_t connection);
/* Put a message that Python has returned back into the waiting input: behind messages put back earlier, in front of all
 * later input. false: no memory. */
bool switch_put_back(tm_switch *sw, uint32_t connection, const uint8_t *frame, uint32_t size);

#endif
