/* deliveries.c - the frames a client mostly receives, walked without building anything.
 *
 * Law: a frame is walked over only if DeliverView (protocol/wire) would find nothing wrong with its header and its one
 * extension; whatever is unusual is left to it, errors included. Offsets are those of docs/reference/wire.md.
 */
#include <string.h>

#include "tm.h"

enum {
    HEADER_BYTES = 64,
    KIND_DELIVER = 2,
    FLAGS_PLAIN = 0x0f, /* CONFIRM, RETRY, DURABLE, OWN: TRACED would need its extension */
    EXTENSION_BYTES = 8,
    SATISFIED = 5,
    ID_BYTES = 4,
};

static uint32_t load16(const uint8_t *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8;
}

static uint32_t load32(const uint8_t *at) {
    return load16(at) | load16(at + 2) << 16;
}

static bool is_zero64(const uint8_t *at) {
    static const uint8_t zero[8];
    return memcmp(at, zero, sizeof zero) == 0;
}

/* `frame` has at least HEADER_BYTES + EXTENSION_BYTES bytes, `length` in all. */
static bool is_plain(const uint8_t *frame, uint32_t length) {
    uint32_t attributes = load32(frame + 60);
    return frame[4] == KIND_DELIVER && (frame[5] & ~FLAGS_PLAIN) == 0 && frame[7] == 0 && /* prefix */
           !is_zero64(frame + 32) && !is_zero64(frame + 40) &&                            /* the message's identity */
           load16(frame + 56) == EXTENSION_BYTES && load16(frame + 58) == 0 &&            /* lengths */
           load16(frame + 64) == SATISFIED && load16(frame + 66) == ID_BYTES &&           /* the one extension */
           attributes <= length - HEADER_BYTES - EXTENSION_BYTES;
}

size_t tm_deliveries_walk(const uint8_t *bytes, size_t size, uint32_t *ends, uint32_t *ids, size_t capacity) {
    size_t count = 0;
    size_t at = 0;
    while (count < capacity && size - at >= HEADER_BYTES + EXTENSION_BYTES) {
        uint32_t length = load32(bytes + at);
        if (length < HEADER_BYTES + EXTENSION_BYTES || length > TM_FRAME_BYTES_MAX || length > size - at ||
            !is_plain(bytes + at, length)) {
            break;
        }
        ids[count] = load32(bytes + at + HEADER_BYTES + 4);
        at += length;
        ends[count++] = (uint32_t)at;
    }
    return count;
}
