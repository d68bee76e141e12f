/* elsewhere.h - R18: messages that entered at other routers and that a durable subscription may have missed. */
#ifndef TM_DURABLE_KEEP_ELSEWHERE_H
#define TM_DURABLE_KEEP_ELSEWHERE_H

#include "durable/state.h"

/* Drop the unknown range at a place of the index. */
void keep_drop_doubt(tm_switch *sw, uint32_t slot, uint32_t at);
/* Drop the unknown range in front of the acknowledged message at a place, if it was reported. */
void keep_pass_doubt(tm_switch *sw, uint32_t slot, uint32_t at);
/* Report the unknown range at a place, whose turn has come, to all consumers. false: no memory; call again later. */
bool keep_tell_doubt(tm_switch *sw, uint32_t slot, uint32_t at);
/* Report to a new consumer the unknown ranges that were reported before. false: no memory. */
bool keep_tell_doubts(tm_switch *sw, uint32_t member);
/* Add the unknown range of a log record to the subscription. TM_OK or TM_NO_MEMORY. */
int keep_fill_doubt(tm_switch *sw, uint32_t slot, const tm_log_record *record);

#endif
