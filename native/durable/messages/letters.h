/* letters.h - a message that a keep gives up goes to the keep for its dead letters. */
#ifndef TM_DURABLE_MESSAGES_LETTERS_H
#define TM_DURABLE_MESSAGES_LETTERS_H

#include "durable/state.h"

/* It goes to the dead letters, or is lost: as soon as its frame is there. */
void keep_kill(tm_switch *sw, uint32_t slot, tm_kept *row, const uint8_t *reason, uint32_t size);
/* Write the letters whose frames are there; false: some wait. */
bool keep_write_letters(tm_switch *sw, uint32_t slot);

#endif
