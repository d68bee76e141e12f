/* frame.h - the header of a Tamis data frame, as docs/reference/wire.md has it: the bytes every message is made of
 * here.
 */
#ifndef FRAME_H
#define FRAME_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#include "records.h"

#define FRAME_PREFIX_BYTES 8
#define FRAME_HEADER_BYTES 64
#define FRAME_BYTES_MAX 1048576

#define FRAME_PUBLISH 0x01
#define FRAME_DELIVER 0x02

static inline uint32_t frame_length(const uint8_t *frame) {
    uint32_t length;
    memcpy(&length, frame, sizeof length);
    return le32toh(length);
}

static inline uint8_t frame_kind(const uint8_t *frame) {
    return frame[4];
}

static inline uint64_t frame_counter(const uint8_t *frame) {
    uint64_t counter;
    memcpy(&counter, frame + 40, sizeof counter);
    return le64toh(counter);
}

static inline void frame_set_counter(uint8_t *frame, uint64_t counter) {
    uint64_t bytes = htole64(counter);
    memcpy(frame + 40, &bytes, sizeof bytes);
}

/* The map of attributes; borrowed from the frame. */
static inline record frame_attributes(const uint8_t *frame) {
    uint16_t extensions;
    uint32_t length;
    memcpy(&extensions, frame + 56, sizeof extensions);
    memcpy(&length, frame + 60, sizeof length);
    return (record){frame + FRAME_HEADER_BYTES + le16toh(extensions), le32toh(length)};
}

/* Append a PUBLISH of publisher `origin` with these attributes and a payload of `payload_bytes` zeros. */
void frame_put_publish(buffer *out, uint64_t origin, record attributes, size_t payload_bytes);

/* Append a prefix; `length` counts it too. */
void frame_put_prefix(buffer *out, uint32_t length, uint8_t kind);

#endif
