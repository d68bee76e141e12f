/* buffer.c - see buffer.h. */
#include "buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"

uint8_t *buffer_extend(buffer *b, size_t count) {
    if (b->length + count > b->room) {
        b->room = (b->length + count) * 2;
        b->bytes = realloc(b->bytes, b->room);
        if (b->bytes == NULL) {
            fail("out of memory");
        }
    }
    b->length += count;
    return b->bytes + b->length - count;
}

void buffer_free(buffer *b) {
    free(b->bytes);
    *b = (buffer){0};
}

void put_bytes(buffer *b, const void *bytes, size_t count) {
    if (count > 0) {
        memcpy(buffer_extend(b, count), bytes, count);
    }
}

void put_text(buffer *b, const char *text) {
    put_bytes(b, text, strlen(text));
}

void put_format(buffer *b, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof text) {
        fail("a formatted text of more than %zu bytes", sizeof text);
    }
    put_bytes(b, text, (size_t)length);
}

void put_u8(buffer *b, uint8_t value) {
    *buffer_extend(b, 1) = value;
}

void put_be16(buffer *b, uint16_t value) {
    put_u8(b, (uint8_t)(value >> 8));
    put_u8(b, (uint8_t)value);
}

void put_be32(buffer *b, uint32_t value) {
    set_be32(buffer_extend(b, 4), value);
}

void put_be64(buffer *b, uint64_t value) {
    put_be32(b, (uint32_t)(value >> 32));
    put_be32(b, (uint32_t)value);
}

void set_be32(uint8_t *at, uint32_t value) {
    for (int i = 0; i < 4; i++) {
        at[i] = (uint8_t)(value >> (24 - 8 * i));
    }
}

uint16_t get_be16(const uint8_t *at) {
    return (uint16_t)(at[0] << 8 | at[1]);
}

uint32_t get_be32(const uint8_t *at) {
    return (uint32_t)get_be16(at) << 16 | get_be16(at + 2);
}
