/* pack.c - see pack.h. */
#include "pack.h"

#include "fail.h"
#include "frame.h"

size_t pack_begin(buffer *out, uint8_t kind) {
    frame_put_prefix(out, 0, kind);
    return out->length - FRAME_PREFIX_BYTES;
}

void pack_end(buffer *out, size_t start) {
    uint32_t length = htole32((uint32_t)(out->length - start));
    if (out->length - start > FRAME_BYTES_MAX) {
        fail("a frame of %zu bytes is too long", out->length - start);
    }
    memcpy(out->bytes + start, &length, sizeof length);
}

void pack_unsigned(buffer *out, uint64_t number) {
    if (number < 128) {
        put_u8(out, (uint8_t)number);
    } else {
        put_u8(out, 0xcf);
        put_be64(out, number);
    }
}

void pack_array(buffer *out, size_t count) {
    if (count < 16) {
        put_u8(out, (uint8_t)(0x90 | count));
    } else {
        put_u8(out, 0xdd);
        put_be32(out, (uint32_t)count);
    }
}

void pack_bytes(buffer *out, record bytes) {
    put_u8(out, 0xc6);
    put_be32(out, (uint32_t)bytes.length);
    put_bytes(out, bytes.bytes, bytes.length);
}

void pack_text(buffer *out, const char *text) {
    size_t length = strlen(text);
    if (length > 31) {
        fail("a text of %zu bytes is too long", length);
    }
    put_u8(out, (uint8_t)(0xa0 | length));
    put_bytes(out, text, length);
}
