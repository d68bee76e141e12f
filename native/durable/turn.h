/* turn.h - what is on disk now and what that lets happen; what time brings; and once a turn, what has changed. */
#ifndef TM_DURABLE_TURN_H
#define TM_DURABLE_TURN_H

#include "durable/state.h"

void keep_begin_call(tm_switch *sw, uint64_t now_us);
void keep_note_log(tm_switch *sw);
void keep_tick(tm_switch *sw);
void keep_turn(tm_switch *sw);

#endif
