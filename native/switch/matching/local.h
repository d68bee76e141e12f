/* local.h - the filters of this router's own clients that a message satisfies. */
#ifndef TM_SWITCH_MATCHING_LOCAL_H
#define TM_SWITCH_MATCHING_LOCAL_H

#include "switch/message.h"

/* switch_match for a table with filters, in a switch without guards. */
int switch_match_some(tm_switch *sw, const tm_message *message, size_t *count);
/* Match local filters into `sw->rows`, without those of clients that may not get the message; returns TM_OK,
 * TM_NO_MEMORY or TM_TOO_COSTLY. Resets the step budget of the message. Inline, because many routers have no local
 * subscriptions. */
static inline int switch_match(tm_switch *sw, const tm_message *message, size_t *count) {
    sw->work.steps = 0;
    *count = 0;
    return sw->subscriptions.filters == 0 ? TM_OK : sw->match(sw, message, count);
}
/* Match the first `attributes` of `sw->attributes` against a table, within the rest of the message's step budget. */
static inline int switch_ask(tm_switch *sw, tm_table *table, size_t attributes, tm_query *query, tm_hits *hits) {
    query->steps_max = sw->work.steps_max - sw->work.steps;
    query->steps_max += query->steps_max == 0; /* 0 means the default; 1 is too little for any match */
    int result = tm_table_match(table, sw->attributes, attributes, query, hits);
    sw->work.steps += hits->steps;
    return result;
}

#endif
