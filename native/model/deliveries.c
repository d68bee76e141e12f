/* deliveries.c - the common frames that a client receives, scanned without building anything.
 *
 * Law: a frame is passed over only if DeliverView (protocol/wire) would accept its header and its extensions, and these
 * are what a router puts before a plain message or before one of a durable subscription; any other frame is left to
 * DeliverView, errors included.
 *
 *     plain    SATISFIED id
 *     stored   SATISFIED id | LOG_POSITION position | DELIVERIES times, bits      each behind its type and length
 */
#include "model/wire.h"

#define LEAD_BYTES 4U /* type and length of an extension */
#define ID_BYTES 4U
#define POSITION_BYTES 8U
#define COUNT_BYTES 5U
#define PLAIN_BYTES (LEAD_BYTES + ID_BYTES)
#define COUNT_AT (PLAIN_BYTES + LEAD_BYTES + POSITION_BYTES)
#define KEPT_BYTES (COUNT_AT + LEAD_BYTES + COUNT_BYTES)

static bool is_lead(const uint8_t *at, uint32_t type, uint32_t bytes) {
    return tm_load16(at) == type && tm_load16(at + 2) == bytes;
}

/* true if `frame`, of `length` bytes, has the header of a sound DELIVER with `extensions` bytes of extensions */
static bool is_sound(const uint8_t *frame, uint32_t length, uint32_t extensions) {
    return frame[WIRE_KIND] == WIRE_DELIVER && (frame[WIRE_FLAGS] & ~(WIRE_FLAGS_KNOWN & ~WIRE_FLAG_TRACED)) == 0 &&
           frame[WIRE_RESERVED] == 0 && tm_load16(frame + WIRE_RESERVED_16) == 0 &&
           tm_load64(frame + WIRE_ORIGIN) != 0 && tm_load64(frame + WIRE_COUNTER) != 0 &&
           extensions <= length - WIRE_HEADER_BYTES &&
           tm_load32(frame + WIRE_ATTRIBUTE_SIZE) <= length - WIRE_HEADER_BYTES - extensions;
}

/* true if the KEPT_BYTES at `first`, which begin with SATISFIED, are the extensions of a stored message */
static bool is_stored(const uint8_t *first) {
    const uint8_t *position = first + PLAIN_BYTES;
    const uint8_t *count = first + COUNT_AT;
    if (!is_lead(position, WIRE_LOG_POSITION, POSITION_BYTES) || !is_lead(count, WIRE_DELIVERIES, COUNT_BYTES)) {
        return false;
    }
    uint32_t times = tm_load32(count + LEAD_BYTES);
    uint8_t bits = count[LEAD_BYTES + 4];
    return tm_load64(position + LEAD_BYTES) != 0 && bits <= (WIRE_REPLAYED | WIRE_MAYBE_DUPLICATE | WIRE_DEAD_LETTER) &&
           ((bits & WIRE_REPLAYED) != 0) == (times == 0);
}

size_t tm_deliveries_walk(const uint8_t *bytes, size_t size, uint32_t *ends, uint32_t *ids, uint64_t *positions,
                          size_t capacity) {
    size_t count = 0;
    size_t at = 0;
    while (count < capacity && size - at >= WIRE_HEADER_BYTES + PLAIN_BYTES) {
        const uint8_t *frame = bytes + at;
        const uint8_t *first = frame + WIRE_HEADER_BYTES;
        uint32_t length = tm_load32(frame);
        uint32_t extensions = tm_load16(frame + WIRE_EXTENSION_SIZE);
        bool has_position = extensions == KEPT_BYTES;
        if (length < WIRE_HEADER_BYTES + PLAIN_BYTES || length > TM_FRAME_BYTES_MAX || length > size - at ||
            !is_sound(frame, length, extensions) || (extensions != PLAIN_BYTES && !has_position) ||
            !is_lead(first, WIRE_SATISFIED, ID_BYTES) || (has_position && !is_stored(first))) {
            break;
        }
        ids[count] = tm_load32(first + LEAD_BYTES);
        positions[count] = has_position ? tm_load64(first + PLAIN_BYTES + LEAD_BYTES) : 0;
        at += length;
        ends[count++] = (uint32_t)at;
    }
    return count;
}
