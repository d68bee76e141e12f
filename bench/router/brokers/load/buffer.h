/* buffer.h - bytes that grow: what is to be sent, and what has been read from a file.
 *
 * Law: `bytes` belongs to the buffer and may move at every put; running out of memory ends the program.
 */
#ifndef BUFFER_H
#define BUFFER_H

#include <stddef.h>
#include <stdint.h>

typedef struct buffer {
    uint8_t *bytes;
    size_t length;
    size_t room;
} buffer;

/* Room for `count` more bytes, which the caller fills; borrowed until the next put. */
uint8_t *buffer_extend(buffer *b, size_t count);
void buffer_free(buffer *b);

void put_bytes(buffer *b, const void *bytes, size_t count);
void put_text(buffer *b, const char *text);
void put_format(buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void put_u8(buffer *b, uint8_t value);
void put_be16(buffer *b, uint16_t value);
void put_be32(buffer *b, uint32_t value);
void put_be64(buffer *b, uint64_t value);

/* Write big-endian into bytes that are there: a length that is known only behind what it counts. */
void set_be32(uint8_t *at, uint32_t value);

uint16_t get_be16(const uint8_t *at);
uint32_t get_be32(const uint8_t *at);

#endif
