/* rate.h - rates of publishing: the buckets from which credit is granted.
 *
 * Law: a bucket fills as its rate says, and holds at most its burst less the unspent credit of the connection that it
 * is drawn for. What a connection has not spent when it ends flows back. Nothing is done per message.
 */
#ifndef TM_SWITCH_CONNECTIONS_RATE_H
#define TM_SWITCH_CONNECTIONS_RATE_H

#include "switch/state.h"

struct tm_bucket {
    tm_rate rate;
    uint64_t frames; /* thousandths of a frame that can be granted now */
    uint64_t bytes;  /* thousandths of a byte */
    uint64_t filled_ms;
    uint32_t users; /* connections that draw from it */
    uint32_t next;  /* next free row + 1, while it is free */
    bool is_free;
};

/* true if a bucket of this number exists, or it is TM_BUCKET_NONE */
bool switch_knows_bucket(const tm_switch *sw, uint32_t bucket);

/* Let a connection draw from a bucket, as its admission says, or no longer. */
void switch_begin_rate(tm_switch *sw, tm_connection *connection);
void switch_end_rate(tm_switch *sw, tm_connection *connection);

/* Move what the bucket of a connection holds to its credit, at most until its window is full. `least`: a CREDIT frame
 * is worth a part of the window of 1 / `least`; 0: whatever there is. false: nothing was moved. */
bool switch_draw(tm_switch *sw, tm_connection *connection, uint32_t least);

/* Free all buckets. */
void switch_free_buckets(tm_switch *sw);

#endif
