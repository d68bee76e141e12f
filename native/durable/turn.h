/* turn.h - the turn: effects of commits and of time, and appends of what has changed. */
#ifndef TM_DURABLE_TURN_H
#define TM_DURABLE_TURN_H

#include "durable/state.h"

/* Entries of tm_durable_ops (switch/durable.h). */
void durable_begin_call(tm_switch *sw, uint64_t now_us);
void durable_note_log(tm_switch *sw);
void durable_tick(tm_switch *sw);
void durable_turn(tm_switch *sw);

#endif
