/* outbox.h - the frames that wait for one socket.
 *
 * Law: what leaves is whole frames in order, urgent ones between two others and never inside one; of a lane, `head` to
 * `tail` is unsent, and `boundary` is the first byte behind a frame that is partly sent (head itself where none is). A
 * frame is in entirely or not at all. At most `bytes_max` bytes of ordered frames wait, and OUTBOX_URGENT_MAX of urgent
 * ones.
 *
 *     bytes   ...sent...|head  rest of a frame |boundary  frame  frame  frame |tail
 */
#ifndef TM_OUTBOX_H
#define TM_OUTBOX_H

#include <sys/uio.h>

#include "base/memory.h"

#define OUTBOX_URGENT_MAX (256U << 10) /* a peer that asks and does not read: a reconnect is cheaper than more */
#define OUTBOX_PIECES 3

typedef struct tm_lane {
    uint8_t *bytes; /* owned */
    uint32_t capacity;
    uint32_t head;
    uint32_t tail;
    uint32_t boundary;
} tm_lane;

typedef struct tm_outbox {
    tm_lane ordered;
    tm_lane urgent;
    uint32_t peak; /* most ordered bytes since the last trim */
} tm_outbox;

static inline uint32_t tm_lane_size(const tm_lane *lane) {
    return lane->tail - lane->head;
}
static inline uint64_t tm_outbox_size(const tm_outbox *outbox) {
    return (uint64_t)tm_lane_size(&outbox->ordered) + tm_lane_size(&outbox->urgent);
}

/* Room for a frame of `size` bytes at the end of the ordered lane, to be filled at once; NULL: no memory. */
uint8_t *tm_outbox_append(tm_outbox *outbox, tm_memory *memory, uint32_t size);
/* Room for a frame of `size` bytes at the end of the urgent lane, to be filled at once; NULL: no memory, or too many
 * frames wait there. */
uint8_t *tm_outbox_urge(tm_outbox *outbox, tm_memory *memory, uint32_t size);

/* Drop the oldest data frames of which nothing was sent, until `room` bytes fewer wait or none are left; control frames
 * among them become urgent. Counts what was dropped. */
void tm_outbox_drop_oldest(tm_outbox *outbox, tm_memory *memory, uint32_t room, uint64_t *frames, uint64_t *bytes);

/* Frames of `from` that are for its receiver, whatever the socket (data frames and LOST), go to `to`, which is empty;
 * other control frames and the rest of one that is partly sent are dropped. */
void tm_outbox_keep(tm_outbox *from, tm_outbox *to);
/* All that waits in `from`, nothing of which was sent, goes behind what waits in `to`; false: no memory, nothing moved.
 */
bool tm_outbox_move(tm_outbox *from, tm_outbox *to, tm_memory *memory);

/* How many data frames wait, one that is partly sent included, and how many bytes of them. */
uint32_t tm_outbox_messages(const tm_outbox *outbox, uint64_t *bytes);

/* What to send next, in order; returns how many pieces. */
int tm_outbox_pieces(const tm_outbox *outbox, struct iovec pieces[OUTBOX_PIECES]);
/* So many bytes of the pieces are sent. */
void tm_outbox_sent(tm_outbox *outbox, uint64_t bytes);

/* Give back memory that the last period did not need. */
void tm_outbox_trim(tm_outbox *outbox, tm_memory *memory);
void tm_outbox_clear(tm_outbox *outbox, tm_memory *memory);
bool tm_outbox_is_sound(const tm_outbox *outbox);

#endif
