/* remote_rows.h - the ends of remote sessions, and the bytes that each has in hand.
 *
 *     out   ...taken by the other end...|out_taken   sent   |out_at   not sent yet   |out_taken + flight.size
 *     in    ...taken here...|in_at      the other end may send up to `in_limit`
 */
#ifndef TM_SWITCH_REMOTE_ROWS_H
#define TM_SWITCH_REMOTE_ROWS_H

#include "base/idset.h"
#include "switch/state.h"
#include "tm_remote.h"

typedef struct tm_remote_bytes {
    uint8_t *bytes; /* owned */
    uint32_t size;
    uint32_t capacity;
} tm_remote_bytes;

typedef struct tm_remote {
    uint64_t session; /* 0: the row is free */
    uint64_t peer;    /* router of the other end */
    uint32_t connection;
    uint32_t next;         /* row + 1 of the next one of the connection, or in a free row of the next free one */
    uint32_t next_working; /* row + 1; kept in a free row that is still in the list */
    bool is_working;
    bool is_near;
    bool owes_word;     /* the other end is to learn what was taken, or that there is room */
    uint32_t room;      /* bytes that the other end takes beyond `out_taken` */
    uint32_t told_room; /* what this end has said last */
    uint64_t out_taken; /* offsets in the streams */
    uint64_t out_at;
    uint64_t in_at;
    uint64_t in_told;
    uint64_t in_limit;
    tm_remote_bytes flight; /* from `out_taken` on */
    tm_remote_bytes input;  /* near: the beginning of a frame; far: what the connection has not processed */
    uint64_t heard_ms;
    uint64_t sent_ms;
    uint64_t progress_ms; /* when the other end last took something, or nothing was on the way */
    uint32_t wait_ms;     /* after it without progress, what was not taken is sent again */
    uint32_t consumer_count;
    uint32_t consumers[TM_REMOTE_CONSUMERS_MAX];
} tm_remote;

struct tm_remotes {
    tm_remote *rows; /* owned */
    uint32_t count;  /* high-water mark */
    uint32_t capacity;
    uint32_t free;          /* first free row + 1 */
    uint32_t working;       /* first row + 1 of those that may have something to send or to process */
    tm_idset set;           /* of rows + 1, by session and kind of end */
    const tm_hash_key *key; /* borrowed from the memory of the switch */
    tm_remote_stats stats;
};

/* Make a row. TM_TOO_MANY, TM_NO_MEMORY, TM_MISUSED: the session is known. */
int switch_new_remote(tm_switch *sw, uint64_t session, uint64_t peer, uint32_t connection, bool is_near);
/* Return an end of a session, or NULL. The pointer is valid until a row is made. */
tm_remote *switch_remote_of(const tm_switch *sw, uint64_t session, bool is_near);
/* Let the next turn look at an end. */
void switch_work_on_remote(tm_switch *sw, tm_remote *remote);
void switch_free_remote(tm_switch *sw, tm_remote *remote);
void switch_free_remotes(tm_switch *sw);
/* Append bytes, at most TM_REMOTE_WINDOW of them together; false: there is no room or no memory, and nothing was
 * appended. */
bool switch_add_bytes(tm_switch *sw, tm_remote_bytes *to, const uint8_t *bytes, uint32_t size, uint32_t most);
void switch_drop_bytes(tm_switch *sw, tm_remote_bytes *from, uint32_t size);
/* true if a consumer is at the other end of this one. */
bool switch_has_consumer(const tm_remote *remote, uint32_t id);

#endif
