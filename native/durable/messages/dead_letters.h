/* dead_letters.h - a message that a subscription gives up goes to its subscription for dead letters. */
#ifndef TM_DURABLE_MESSAGES_DEAD_LETTERS_H
#define TM_DURABLE_MESSAGES_DEAD_LETTERS_H

#include "durable/state.h"

/* Make a row a dead letter, or a loss, as soon as its frame has been read. */
void durable_kill(tm_switch *sw, uint32_t slot, tm_stored_row *row, const uint8_t *reason, uint32_t size);
/* Write the dead letters whose frames have been read; false: some wait. */
bool durable_write_dead_letters(tm_switch *sw, uint32_t slot);

#endif
