/* chains.h - how far chains have come, by the records of custody that are on disk.
 *
 * Law: the last record of a chain counts, by number, and within one log of its router a chain moves on alone. So a
 * record that is taken twice, or after a later one, changes nothing. The array is sorted; a place without a number
 * waits for its first record to be on disk.
 */
#ifndef TM_LOG_CHAINS_H
#define TM_LOG_CHAINS_H

#include "base/memory.h"
#include "tm_log.h"

typedef struct tm_chains {
    tm_memory *memory; /* borrowed */
    tm_log_chain *all; /* owned; by is_home and router */
    uint32_t count;
    uint32_t capacity;
} tm_chains;

/* Return a chain, borrowed until the next one is added or removed; NULL: unknown. */
tm_log_chain *tm_chains_find(const tm_chains *chains, uint64_t router, uint32_t is_home);
/* Reserve the place of a chain. false: no memory. */
bool tm_chains_reserve(tm_chains *chains, uint64_t router, uint32_t is_home);
/* Take what record `n` says of a chain that has a place. */
void tm_chains_set(tm_chains *chains, const tm_log_chain *said, uint64_t n);
/* Move the chain of an entry on, by message `n` that is later than its last record. */
void tm_chains_move(tm_chains *chains, uint64_t entry, uint64_t have, uint64_t n);
void tm_chains_remove(tm_chains *chains, uint64_t router, uint32_t is_home);
/* Return how many chains have a record on disk; copy at most `capacity` of them to `out`. */
size_t tm_chains_known(const tm_chains *chains, tm_log_chain *out, size_t capacity);
void tm_chains_free(tm_chains *chains);

#endif
