/* local.h - which filters of this router's own clients a message satisfies. */
#ifndef TM_SWITCH_MATCHING_LOCAL_H
#define TM_SWITCH_MATCHING_LOCAL_H

#include "switch/message.h"

/* Where there are local filters. */
int switch_match_some(tm_switch *sw, const tm_message *message, size_t *count);
/* Rows of local filters that match, in `sw->rows`: TM_OK, TM_NO_MEMORY or TM_TOO_COSTLY. What the message may cost
 * begins again. Here, as many routers have no clients that subscribe. */
static inline int switch_match(tm_switch *sw, const tm_message *message, size_t *count) {
    sw->work.steps = 0;
    *count = 0;
    return sw->subscriptions.filters == 0 ? TM_OK : switch_match_some(sw, message, count);
}
/* A table is asked, and what it cost is counted. */
static inline int switch_ask(tm_switch *sw, tm_table *table, const tm_message *message, tm_query *query,
                             tm_hits *hits) {
    query->steps_max = sw->work.steps_max - sw->work.steps;
    query->steps_max += query->steps_max == 0; /* one, which will not do either */
    int result = tm_table_match(table, sw->attributes, message->attribute_count, query, hits);
    sw->work.steps += hits->steps;
    return result;
}

#endif
