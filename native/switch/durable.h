/* durable.h - functions that native/durable/ provides to the switch for durable subscriptions.
 *
 * Law: the switch calls native/durable/ through this table alone, and only while `sw->durable` is set.
 */
#ifndef TM_DURABLE_H
#define TM_DURABLE_H

#include "switch/message.h"

#define DURABLES_EPOLL_ID UINT32_MAX /* marks the log's descriptor in the epoll set, in place of a connection */

struct tm_durable_ops {
    /* ---- in the order of a call ---- */

    /* Start a call at `now_us` of the steady clock. */
    void (*begin)(tm_switch *sw, uint64_t now_us);
    /* Note that the log has committed, or that a turn was requested. */
    void (*note_log)(tm_switch *sw);
    void (*tick)(tm_switch *sw);
    /* Process the publishes that waited for the disk, if the disk has caught up. */
    void (*let_go)(tm_switch *sw);
    /* Apply what has changed in this call; called before queued output is sent. */
    void (*turn)(tm_switch *sw);

    /* ---- a message ---- */

    /* Store a message for those durable subscriptions among the `count` matching rows that do not have it yet and have
     * room; a dry run is not stored. A repeated message that a durable subscription lacks may have 0 rows. Returns how
     * many durable subscriptions match, with room or without. */
    uint32_t (*durable)(tm_switch *sw, const tm_message *message, size_t count);
    /* Take a DIRECTED for this router, which is checked; `route_bytes` are those of its CUSTODY. */
    void (*arrive)(tm_switch *sw, tm_message *message, const extensions *found);
    /* true if a durable subscription is known to lack the message */
    bool (*is_incomplete)(const tm_switch *sw, const tm_message *message);
    /* Refuse a message that requests storage if, after `durable`, a durable subscription lacks it; false: none does,
     * and the message is not refused. */
    bool (*refuse_lacking)(tm_switch *sw, const tm_message *message);
    /* true if, after `durable`, a durable subscription has the message */
    bool (*has_stored)(const tm_switch *sw);
    /* Confirm a message with its storage state: once it is on disk, or at once if no durable subscription matched it.
     */
    void (*confirm)(tm_switch *sw, uint32_t connection, uint64_t counter, tm_storage stored);
    /* Confirm a message that was stored now: once it is on disk here, and at each home that wants it. */
    void (*confirm_held)(tm_switch *sw, const tm_message *message);
    /* true if a repeated message waits for its homes; it is answered on the connection that it came from now */
    bool (*is_awaited)(tm_switch *sw, const tm_message *message);

    /* ---- a connection ---- */

    /* Process a frame of a connection with consumers; false: the frame must be handed to Python. */
    bool (*take_ack)(tm_switch *sw, uint32_t connection, const uint8_t *frame, uint32_t size);
    bool (*take_credit)(tm_switch *sw, uint32_t connection, const uint8_t *frame, uint32_t size);
    /* Make a publish wait if it is to be stored and the disk is behind; true if it waits. */
    bool (*hold)(tm_switch *sw, uint32_t connection, const uint8_t *frame);
    /* End a connection's wait for the disk. */
    void (*hold_no_more)(tm_switch *sw, uint32_t connection);
    /* Note that a connection with consumers has sent a part of its queue. */
    void (*go_on)(tm_switch *sw, uint32_t connection);
    /* Count a failed attempt for the oldest message in flight of each consumer of a connection: its peer has gone
     * without notice, and that message may be the cause. */
    void (*blame)(tm_switch *sw, uint32_t connection);
    /* Detach the consumers of a connection that ends. */
    void (*leave)(tm_switch *sw, uint32_t connection);

    /* Free the state of durable subscriptions; the switch ends. */
    void (*free)(tm_switch *sw);
};

/* Store the message if one of the `count` matching rows belongs to a durable subscription, here or elsewhere. Inline:
 * most messages match none. */
static inline uint32_t switch_durable(tm_switch *sw, const tm_message *message, size_t count) {
    for (size_t row = 0; row < count; row++) {
        if (switch_subscriber(sw, sw->rows.groups[row])->state >= SUBSCRIBER_DURABLE) {
            return sw->durable->durable(sw, message, count);
        }
    }
    return 0;
}

#endif
