/* totals.h - figures of all durable subscriptions together. */
#ifndef TM_DURABLE_TOTALS_H
#define TM_DURABLE_TOTALS_H

#include "durable/state.h"

/* Count `count` publishes that waited `us` for the disk. */
void durable_count_commits(tm_durables *durables, uint64_t us, uint32_t count);

#endif
