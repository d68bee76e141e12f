/* elsewhere.h - R18: messages that entered at other routers and that a durable subscription may have missed. */
#ifndef TM_DURABLE_CORE_ELSEWHERE_H
#define TM_DURABLE_CORE_ELSEWHERE_H

#include "durable/state.h"

/* Drop the unknown range at a place of the index. */
void durable_drop_unknown(tm_switch *sw, uint32_t slot, uint32_t at);
/* Drop the unknown range in front of the acknowledged message at a place, if it was reported. */
void durable_pass_unknown(tm_switch *sw, uint32_t slot, uint32_t at);
/* Report the unknown range at a place, whose turn has come, to all consumers. false: no memory; call again later. */
bool durable_tell_unknown(tm_switch *sw, uint32_t slot, uint32_t at);
/* Report to a new consumer the unknown ranges that were reported before. false: no memory. */
bool durable_tell_unknowns(tm_switch *sw, uint32_t consumer);
/* Add the unknown range of a log record to the subscription. TM_OK or TM_NO_MEMORY. */
int durable_fill_unknown(tm_switch *sw, uint32_t slot, const tm_log_record *record);

#endif
