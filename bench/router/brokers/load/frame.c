/* frame.c - see frame.h. */
#include "frame.h"

void frame_put_prefix(buffer *out, uint32_t length, uint8_t kind) {
    uint8_t prefix[FRAME_PREFIX_BYTES] = {0};
    uint32_t bytes = htole32(length);
    memcpy(prefix, &bytes, sizeof bytes);
    prefix[4] = kind;
    put_bytes(out, prefix, sizeof prefix);
}

void frame_put_publish(buffer *out, uint64_t origin, record attributes, size_t payload_bytes) {
    size_t length = FRAME_HEADER_BYTES + attributes.length + payload_bytes;
    uint8_t *frame = buffer_extend(out, length);
    memset(frame, 0, length);
    uint32_t length_bytes = htole32((uint32_t)length);
    uint32_t attributes_bytes = htole32((uint32_t)attributes.length);
    uint64_t origin_bytes = htole64(origin);
    memcpy(frame, &length_bytes, sizeof length_bytes);
    frame[4] = FRAME_PUBLISH;
    memcpy(frame + 32, &origin_bytes, sizeof origin_bytes);
    frame_set_counter(frame, 1);
    memcpy(frame + 60, &attributes_bytes, sizeof attributes_bytes);
    memcpy(frame + FRAME_HEADER_BYTES, attributes.bytes, attributes.length);
}
