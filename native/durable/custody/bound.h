/* bound.h - what is stored for a home: its bytes, since when it waits, and the numbers that are given up at the bounds
 * of these.
 *
 * Law: the count is never less than what is stored. Those given up are the oldest, so that all of them stand in the
 * chain before all that is stored; they leave it by a record, and stay known until the home has acknowledged them (C7).
 */
#ifndef TM_DURABLE_CUSTODY_BOUND_H
#define TM_DURABLE_CUSTODY_BOUND_H

#include "durable/custody/homes.h"

/* Return the last number that was given up and is not acknowledged; 0: none. */
static inline uint64_t durable_given_up(const tm_home *home) {
    uint64_t last = home->gap_count > 0 ? home->gaps[home->gap_count - 1].last : 0;
    return last > home->chain.have ? last : 0;
}
/* Count `size` bytes of message `n`, with a mark each `step` bytes. */
void durable_count(tm_home_bytes *bytes, uint64_t n, uint64_t size, uint64_t step);
/* All up to number `n` has gone. */
void durable_uncount(tm_home_bytes *bytes, uint64_t n);
/* Count message `n`, of `size` bytes, as stored at `at_ms`. */
void durable_note_open(const tm_homes *homes, tm_home *home, uint64_t n, uint64_t size, uint64_t at_ms);
/* true if something is stored past a bound, or may be: of its age only the log is sure. */
bool durable_is_past(const tm_switch *sw, const tm_home *home);
/* The home has all up to `have`, which is at most the last number of its chain. */
void durable_note_had(tm_home *home, uint64_t have);
/* Find what the log has of the chain of a home past `have`: its last number, what is stored and what was given up.
 * TM_OK, or a result of the log or TM_NO_MEMORY, with nothing changed. */
int durable_recall_home(tm_switch *sw, tm_home *home, uint64_t have);
/* Give up the oldest of `open`. Results as those of tm_custody_give_up. */
int durable_give_up(tm_switch *sw, tm_home *home, const tm_log_summary *open, size_t count);
/* Refuse publishers that wait for messages above `after` and up to number `n`, which the home does not get (C8). */
void durable_refuse_given_up(tm_switch *sw, tm_home *home, uint64_t after, uint64_t n);
/* Return the first numbers that were given up behind what was sent; NULL: there are none. */
const tm_home_gap *durable_next_gap(const tm_home *home);
/* true if a message of `size` bytes would be past the bound of bytes, at which messages are refused. One is taken in
 * any case. */
bool durable_is_full(const tm_homes *homes, const tm_home *home, uint64_t size);
void durable_free_home(tm_switch *sw, tm_home *home);
/* Return what is wrong; NULL: nothing is. */
const char *durable_check_bound(const tm_home *home);

#endif
