/* remote_stream.h - the streams of remote sessions in frames REMOTE. */
#ifndef TM_SWITCH_REMOTE_STREAM_H
#define TM_SWITCH_REMOTE_STREAM_H

#include "switch/remote_rows.h"

typedef enum { REMOTE_FROM_FAR = 1, REMOTE_ENDS = 2, REMOTE_IS_LOST = 4, REMOTE_MARKS = 7 } tm_remote_marks;

/* The fields of a REMOTE; `piece` is borrowed from the frame. */
typedef struct tm_remote_frame {
    uint8_t hops;
    uint64_t receiver;
    uint64_t sender;
    uint64_t session;
    uint64_t at;
    uint64_t taken;
    uint32_t room;
    uint32_t marks; /* tm_remote_marks */
    const uint8_t *piece;
    uint32_t size;
} tm_remote_frame;

/* Read a REMOTE; false: it differs from the wire page. */
bool switch_read_remote(const uint8_t *frame, size_t size, tm_remote_frame *out);
/* Process a REMOTE from a link. */
void switch_take_remote(tm_switch *sw, uint32_t link, const uint8_t *frame, uint32_t size);
/* Take what a REMOTE for an end brings. */
void switch_hear_remote(tm_switch *sw, tm_remote *remote, const tm_remote_frame *said);
/* Send what both kinds of ends have to send and may. */
void switch_send_remotes(tm_switch *sw);
/* Send again what was lost, and end the sessions whose other end was silent for too long; called with each tick. */
void switch_tick_remotes(tm_switch *sw);
/* Tell the other end that a session ends here, and free this one. */
void switch_end_remote(tm_switch *sw, tm_remote *remote, bool is_lost);
/* End a session that cannot go on at both ends; the client of a near end learns it. */
void switch_break_remote(tm_switch *sw, tm_remote *remote);
/* Return a far end with input that its connection has not processed, from `*at` on in the list of those that work, or
 * NULL; `*at` is then behind it. */
tm_remote *switch_remote_with_input(tm_switch *sw, uint32_t *at);

#endif
