/* counts.h - at a start: what has left each durable subscription, by its counts in the catalog and by dead letters. */
#ifndef TM_DURABLE_START_COUNTS_H
#define TM_DURABLE_START_COUNTS_H

#include "durable/state.h"

/* Note a record of the catalog if it holds the counts of a subscription that is not open yet. false: no memory. */
bool durable_note_counts(tm_switch *sw, const tm_log_record *record, const uint8_t *body);
/* Give a subscription that is opened its newest counts. false: no memory. */
bool durable_take_counts(tm_switch *sw, tm_durable *durable);
/* Count a dead letter found in the subscription that got it for the one that it left, unless the counts of that one
 * include it. false: no memory. */
bool durable_fold_dead_letter(tm_switch *sw, const tm_log_record *record, const uint8_t *body, uint32_t size);

#endif
