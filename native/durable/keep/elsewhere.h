/* elsewhere.h - R18: what a keep may have missed of the messages that entered at other routers. */
#ifndef TM_DURABLE_KEEP_ELSEWHERE_H
#define TM_DURABLE_KEEP_ELSEWHERE_H

#include "durable/state.h"

/* The doubt at a place of the index leaves. */
void keep_drop_doubt(tm_switch *sw, uint32_t slot, uint32_t at);
/* The message at a place is acknowledged, and with it the doubt in front of it, if members were told. */
void keep_pass_doubt(tm_switch *sw, uint32_t slot, uint32_t at);
/* The turn of the doubt at a place has come: tell all members. false: no memory, again later. */
bool keep_tell_doubt(tm_switch *sw, uint32_t slot, uint32_t at);
/* Tell a member that comes of the doubts that others were told. false: no memory. */
bool keep_tell_doubts(tm_switch *sw, uint32_t member);
/* A doubt of the log is the keep's: TM_OK or TM_NO_MEMORY. */
int keep_fill_doubt(tm_switch *sw, uint32_t slot, const tm_log_record *record);

#endif
