/* delivery.c - see delivery.h. */
#include "relay/codecs/delivery.h"

#include "model/wire.h"

#define LEAD_BYTES 4U /* type and size of an extension */

/* Note an extension that is known here; false: it has not the size of its kind. */
static bool take_extension(delivery *out, uint32_t type, const uint8_t *body, uint32_t size) {
    switch (type) {
    case WIRE_SATISFIED:
        out->ids = body;
        out->id_count = size / 4;
        return size > 0 && size % 4 == 0;
    case WIRE_LOG_POSITION:
        out->position = size == 8 ? tm_load64(body) : 0;
        return size == 8;
    case WIRE_DELIVERIES:
        if (size != 5) {
            return false;
        }
        out->deliveries = tm_load32(body);
        out->bits = body[4];
        out->has_deliveries = true;
        return true;
    default:
        return true;
    }
}

static bool take_extensions(delivery *out, const uint8_t *at, uint32_t left) {
    uint32_t known = 0;
    while (left > 0) {
        uint32_t size = left >= LEAD_BYTES ? tm_load16(at + 2) : left;
        if (size > left - LEAD_BYTES || left < LEAD_BYTES) {
            return false;
        }
        uint32_t type = tm_load16(at);
        if (type < 32 && (known >> type & 1) != 0) {
            return false;
        }
        known |= type < 32 ? 1U << type : 0;
        if (!take_extension(out, type, at + LEAD_BYTES, size)) {
            return false;
        }
        at += LEAD_BYTES + size;
        left -= LEAD_BYTES + size;
    }
    return true;
}

static bool header_is_sound(const uint8_t *frame, uint32_t size) {
    uint32_t extensions = tm_load16(frame + WIRE_EXTENSION_SIZE);
    return size >= WIRE_HEADER_BYTES && (frame[WIRE_FLAGS] & ~WIRE_FLAGS_KNOWN) == 0 && frame[WIRE_RESERVED] == 0 &&
           tm_load16(frame + WIRE_RESERVED_16) == 0 && tm_load64(frame + WIRE_ORIGIN) != 0 &&
           tm_load64(frame + WIRE_COUNTER) != 0 && extensions <= size - WIRE_HEADER_BYTES &&
           tm_load32(frame + WIRE_ATTRIBUTE_SIZE) <= size - WIRE_HEADER_BYTES - extensions;
}

delivery_state delivery_read(const uint8_t *bytes, size_t size, delivery *out) {
    if (size < WIRE_PREFIX_BYTES) {
        return DELIVERY_PARTIAL;
    }
    if (bytes[WIRE_KIND] != WIRE_DELIVER) {
        return DELIVERY_OTHER;
    }
    uint32_t length = tm_load32(bytes);
    if (length < WIRE_HEADER_BYTES || length > TM_FRAME_BYTES_MAX) {
        return DELIVERY_UNSOUND;
    }
    if (length > size) {
        return DELIVERY_PARTIAL;
    }
    if (!header_is_sound(bytes, length)) {
        return DELIVERY_UNSOUND;
    }
    uint32_t extensions = tm_load16(bytes + WIRE_EXTENSION_SIZE);
    *out = (delivery){.frame = bytes, .size = length, .attributes = bytes + WIRE_HEADER_BYTES + extensions};
    out->payload = out->attributes + tm_load32(bytes + WIRE_ATTRIBUTE_SIZE);
    return take_extensions(out, bytes + WIRE_HEADER_BYTES, extensions) ? DELIVERY_WHOLE : DELIVERY_UNSOUND;
}
