/* effects.h - what a record that is on disk does to others. */
#ifndef TM_LOG_EFFECTS_H
#define TM_LOG_EFFECTS_H

#include "log/store.h"

/* Add the holders of a record, the one that it leaves as a dead letter, and the place of its chain, if they are
 * unknown; a new holder is done with all numbers before `first`. false: no memory. */
bool tm_store_take_holders(tm_store *store, const tm_log_record *record, uint64_t first);
/* Apply the effects of a record on others, after tm_store_take_holders. */
void tm_store_apply(tm_store *store, const tm_log_record *record);
/* true if a record also applies where it is read as a copy, since its original may be gone: no checkpoint has it. */
static inline bool tm_record_stands_alone(const tm_log_record *record) {
    return record->kind == TM_LOG_DURABLE || record->kind == TM_LOG_CHAIN || record->kind == TM_LOG_HOME_HAS;
}

#endif
