/* tally.h - at a start: what has left each keep, by its tallies in the book and by dead letters. */
#ifndef TM_DURABLE_START_TALLY_H
#define TM_DURABLE_START_TALLY_H

#include "durable/state.h"

/* Note what a record of the book says, if it is a tally: for a keep that is still to be opened. false: no memory. */
bool keep_note_tally(tm_switch *sw, const tm_log_record *record, const uint8_t *body);
/* A keep is opened, and takes the newest tally that there is. false: no memory. */
bool keep_take_tally(tm_switch *sw, tm_keep *keep);
/* A start finds a dead letter in the keep that got it: the one that it left counts it, if its tally does not. false: no
 * memory. */
bool keep_fold_letter(tm_switch *sw, const tm_log_record *record, const uint8_t *body, uint32_t size);

#endif
