/* wire.c - see wire.h. */
#include "model/wire.h"

#define EXTENSION_HEAD_BYTES 4U /* type and size */

bool wire_expiry_ms(const uint8_t *frame, uint32_t size, uint64_t *ms) {
    const uint8_t *area = frame + WIRE_HEADER_BYTES;
    uint32_t bytes = tm_load16(frame + WIRE_EXTENSION_SIZE);
    *ms = 0;
    if (bytes > size - WIRE_HEADER_BYTES) {
        return false;
    }
    for (uint32_t at = 0; at < bytes;) {
        uint32_t left = bytes - at;
        uint32_t body = left >= EXTENSION_HEAD_BYTES ? tm_load16(area + at + 2) : left;
        if (body > left - EXTENSION_HEAD_BYTES) {
            return false;
        }
        if (tm_load16(area + at) == WIRE_EXPIRY && body == sizeof *ms) {
            *ms = tm_load64(area + at + EXTENSION_HEAD_BYTES) / 1000000;
            *ms += *ms == 0;
            return true;
        }
        at += EXTENSION_HEAD_BYTES + body;
    }
    return true;
}

void wire_begin(wire_writer *writer, wire_kind kind) {
    memset(writer->bytes, 0, WIRE_PREFIX_BYTES);
    writer->bytes[WIRE_KIND] = (uint8_t)kind;
    writer->size = WIRE_PREFIX_BYTES;
}

static void put(wire_writer *writer, uint8_t byte) {
    writer->bytes[writer->size++] = byte;
}

static void put_big_endian(wire_writer *writer, uint64_t number, unsigned width) {
    for (unsigned i = width; i > 0; i--) {
        put(writer, (uint8_t)(number >> (8 * (i - 1))));
    }
}

void wire_array(wire_writer *writer, uint32_t count) {
    if (count < 16) {
        put(writer, (uint8_t)(0x90 | count));
        return;
    }
    put(writer, 0xdc);
    put_big_endian(writer, count, 2);
}

void wire_unsigned(wire_writer *writer, uint64_t number) {
    if (number < 0x80) {
        put(writer, (uint8_t)number);
        return;
    }
    unsigned power = number <= UINT8_MAX ? 0 : number <= UINT16_MAX ? 1 : number <= UINT32_MAX ? 2 : 3;
    put(writer, (uint8_t)(0xcc + power));
    put_big_endian(writer, number, 1U << power);
}

void wire_boolean(wire_writer *writer, bool boolean) {
    put(writer, boolean ? 0xc3 : 0xc2);
}

void wire_text(wire_writer *writer, const char *text) {
    size_t length = strlen(text);
    put(writer, 0xd9);
    put(writer, (uint8_t)length);
    memcpy(writer->bytes + writer->size, text, length);
    writer->size += (uint32_t)length;
}

void wire_end(wire_writer *writer) {
    wire_store32(writer->bytes, writer->size);
}
