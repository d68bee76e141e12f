/* catalog.h - appends to the catalog, which holds the records about all durable subscriptions. */
#ifndef TM_DURABLE_CORE_CATALOG_H
#define TM_DURABLE_CORE_CATALOG_H

#include "durable/state.h"

/* Append a record to the catalog; the body may begin with a tm_log_done. Results as those of tm_log_append; TM_LOG_FULL
 * if there is no memory. */
int durable_append_catalog(tm_switch *sw, uint32_t kind, const void *body, uint32_t size, uint64_t *n);

#endif
