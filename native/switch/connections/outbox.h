/* outbox.h - the frames that wait for one socket.
 *
 * Law: whole frames leave in order, urgent ones between two others and never inside one. In a lane, `head` to `tail` is
 * unsent, and `boundary` is the first byte behind a partly sent frame (equal to `head` where there is none). A frame is
 * queued entirely or not at all. At most `bytes_max` bytes of ordered frames wait, and OUTBOX_URGENT_MAX of urgent
 * ones.
 *
 *     bytes   ...sent...|head  rest of a frame |boundary  frame  frame  frame |tail
 */
#ifndef TM_OUTBOX_H
#define TM_OUTBOX_H

#include <sys/uio.h>

#include "base/memory.h"

#define OUTBOX_URGENT_MAX (256U << 10) /* more means a peer that does not read its answers; a reconnect is cheaper */
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

/* Reserve a frame of `size` bytes at the end of the ordered lane, which the caller fills at once; NULL: no memory. */
uint8_t *tm_outbox_append(tm_outbox *outbox, tm_memory *memory, uint32_t size);
/* Reserve a frame of `size` bytes at the end of the urgent lane, which the caller fills at once; NULL: no memory, or
 * too many frames wait there. */
uint8_t *tm_outbox_urge(tm_outbox *outbox, tm_memory *memory, uint32_t size);

/* Drop the oldest unsent data frames until `room` bytes fewer wait or none is left; control frames among them become
 * urgent. Adds what was dropped to `*frames` and `*bytes`. */
void tm_outbox_drop_oldest(tm_outbox *outbox, tm_memory *memory, uint32_t room, uint64_t *frames, uint64_t *bytes);

/* Move the frames of `from` that stay valid on another socket (data frames and LOST) to the empty outbox `to`; drop
 * other control frames and the rest of a partly sent frame. */
void tm_outbox_keep(tm_outbox *from, tm_outbox *to);
/* Append all of `from`, none of which was sent, to `to`; false: no memory, and nothing was moved. */
bool tm_outbox_move(tm_outbox *from, tm_outbox *to, tm_memory *memory);

/* Return how many data frames wait, a partly sent one included; `*bytes` are their bytes. */
uint32_t tm_outbox_messages(const tm_outbox *outbox, uint64_t *bytes);

/* Set `pieces` to the bytes to send next, in order; returns the number of pieces. */
int tm_outbox_pieces(const tm_outbox *outbox, struct iovec pieces[OUTBOX_PIECES]);
/* Remove the first `bytes` bytes of the pieces, which were sent. */
void tm_outbox_sent(tm_outbox *outbox, uint64_t bytes);

/* Free the memory that was not needed since the last trim. */
void tm_outbox_trim(tm_outbox *outbox, tm_memory *memory);
void tm_outbox_clear(tm_outbox *outbox, tm_memory *memory);
bool tm_outbox_is_sound(const tm_outbox *outbox);

#endif
