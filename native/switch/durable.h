/* durable.h - what a switch has done for kept messages: a table of functions, which native/durable/ hangs on it.
 *
 * Law: the switch calls nothing of that room but by this table, and only while `sw->durable` is there.
 */
#ifndef TM_DURABLE_H
#define TM_DURABLE_H

#include "switch/message.h"

#define KEEPS_EPOLL_ID UINT32_MAX /* in place of a connection, in the epoll set */

struct tm_durable {
    /* ---- a call, in this order ---- */

    /* A call has begun, at a time of the steady clock. */
    void (*begin)(tm_switch *sw, uint64_t now_us);
    /* The log has committed, or something asked for a turn. */
    void (*note_log)(tm_switch *sw);
    void (*tick)(tm_switch *sw);
    /* Take what waited for the disk, if that is no longer behind. */
    void (*let_go)(tm_switch *sw);
    /* What has changed has its effects: before what is queued is sent. */
    void (*turn)(tm_switch *sw);

    /* ---- a message ---- */

    /* `count` rows of local filters match, or none of a message that came before and that a keep lacks: store it,
     * unless it is a dry run, for those of them that are keeps and do not have it, where there is room; returns how
     * many they are, with room or without. */
    uint32_t (*keep)(tm_switch *sw, const tm_message *message, size_t count);
    /* Return whether a keep is known to lack the message. */
    bool (*is_incomplete)(const tm_switch *sw, const tm_message *message);
    /* Refuse a message that asks for the disk, and that `keep` has dealt with, if a keep lacks it; false: none does. */
    bool (*refuse_lacking)(tm_switch *sw, const tm_message *message);
    /* Confirm a message once it is on disk, and say whether it is stored; one that no keep wanted, at once. */
    void (*confirm)(tm_switch *sw, uint32_t connection, uint64_t counter, tm_stored stored);

    /* ---- a connection ---- */

    /* Take a frame of a connection that is attached to keeps; false: it goes up. */
    bool (*take_ack)(tm_switch *sw, uint32_t connection, const uint8_t *frame, uint32_t size);
    bool (*take_credit)(tm_switch *sw, uint32_t connection, const uint8_t *frame, uint32_t size);
    /* A publish that a client sends while the disk is behind waits, if it is to be kept; returns whether it does. */
    bool (*hold)(tm_switch *sw, uint32_t connection, const uint8_t *frame);
    /* End the wait for the disk. */
    void (*hold_no_more)(tm_switch *sw, uint32_t connection);
    /* A connection that is attached has sent a part of what waits for it. */
    void (*go_on)(tm_switch *sw, uint32_t connection);
    /* The peer of one that is attached has gone, and has not said so: what it had first may be why. */
    void (*blame)(tm_switch *sw, uint32_t connection);
    /* One that is attached ends. */
    void (*leave)(tm_switch *sw, uint32_t connection);

    /* The switch ends. */
    void (*free)(tm_switch *sw);
};

/* `count` rows match: have the message kept if one of them is a keep. Here, as most messages are for none. */
static inline uint32_t switch_keep(tm_switch *sw, const tm_message *message, size_t count) {
    for (size_t row = 0; row < count; row++) {
        if (switch_subscriber(sw, sw->rows.groups[row])->state == SUBSCRIBER_KEEP) {
            return sw->durable->keep(sw, message, count);
        }
    }
    return 0;
}

#endif
