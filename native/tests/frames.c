/* frames.c - see frames.h. */
#include "frames.h"

#include <string.h>

void begin(frame *out, uint8_t kind) {
    memset(out->bytes, 0, WIRE_HEADER_BYTES);
    out->bytes[WIRE_KIND] = kind;
    out->size = WIRE_PREFIX_BYTES;
}

static void put(frame *out, const void *bytes, size_t size) {
    memcpy(out->bytes + out->size, bytes, size);
    out->size += (uint32_t)size;
}

void put_byte(frame *out, unsigned byte) {
    uint8_t one = (uint8_t)byte;
    put(out, &one, 1);
}

static void put_u32(frame *out, uint32_t number) {
    uint8_t bytes[5] = {0xce, (uint8_t)(number >> 24), (uint8_t)(number >> 16), (uint8_t)(number >> 8),
                        (uint8_t)number};
    put(out, bytes, sizeof bytes);
}

void subscribe_frame(frame *out, uint32_t id, bool own, const uint8_t *filter, uint32_t size) {
    begin(out, WIRE_SUBSCRIBE);
    put_byte(out, 0x95);
    put_u32(out, 1);
    put_byte(out, 0x91);
    put_byte(out, 0x92);
    put_u32(out, id);
    put_byte(out, 0x91);
    put_byte(out, 0xc6);
    uint8_t length[4] = {(uint8_t)(size >> 24), (uint8_t)(size >> 16), (uint8_t)(size >> 8), (uint8_t)size};
    put(out, length, sizeof length);
    put(out, filter, size);
    put_byte(out, own ? 0xc3 : 0xc2);
    put_byte(out, 0);
    put_byte(out, 0xc2);
    wire_store32(out->bytes, out->size);
}

void publish_frame(frame *out, uint64_t origin, uint64_t counter, bool confirm, const wire *message, uint32_t payload) {
    begin(out, WIRE_PUBLISH);
    out->size = WIRE_HEADER_BYTES;
    out->bytes[WIRE_FLAGS] = confirm ? WIRE_FLAG_CONFIRM : 0;
    wire_store64(out->bytes + WIRE_ORIGIN, origin);
    wire_store64(out->bytes + WIRE_COUNTER, counter);
    wire_store32(out->bytes + WIRE_ATTRIBUTE_SIZE, (uint32_t)message->size);
    put(out, message->bytes, message->size);
    memset(out->bytes + out->size, 7, payload);
    out->size += payload;
    wire_store32(out->bytes, out->size);
}

uint64_t read_unsigned(const uint8_t **at) {
    uint8_t tag = *(*at)++;
    if (tag < 0x80) {
        return tag;
    }
    uint64_t number = 0;
    for (unsigned left = 1U << (tag - 0xcc); left > 0; left--) {
        number = number << 8 | *(*at)++;
    }
    return number;
}
