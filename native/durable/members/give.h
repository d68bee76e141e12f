/* give.h - who gets which message of a keep. */
#ifndef TM_DURABLE_MEMBERS_GIVE_H
#define TM_DURABLE_MEMBERS_GIVE_H

#include "durable/state.h"

void keep_hand_out(tm_switch *sw, uint32_t slot);
/* What a member has comes back; `delay_ms` 0: by the terms. It may go to the dead letters for it. */
void keep_take_back(tm_switch *sw, uint32_t slot, tm_kept *row, uint32_t delay_ms, const uint8_t *reason,
                    uint32_t reason_size);
/* One more attempt with a row that is out has failed; true: it was the last, and the row goes to the dead letters. */
bool keep_fail(tm_switch *sw, uint32_t slot, tm_kept *row, const uint8_t *reason, uint32_t reason_size);

#endif
