/* totals.h - figures of all durable subscriptions together. */
#ifndef TM_DURABLE_TOTALS_H
#define TM_DURABLE_TOTALS_H

#include "durable/state.h"

/* Count `count` publishes that waited `us` for the disk. */
void keep_count_commits(tm_keeps *keeps, uint64_t us, uint32_t count);

#endif
