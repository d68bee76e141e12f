/* pack.h - names and values of a message as msgpack, in the shortest form, as a client writes them.
 *
 * Law: no length is checked; PACK_SLACK bytes more than a string has are there.
 */
#ifndef TM_RELAY_PACK_H
#define TM_RELAY_PACK_H

#include "model/wire.h"
#include "relay/codecs/block.h"
#include "relay/codecs/scan.h"

#define PACK_SLACK (BLOCK_BYTES + 5U)

static inline void pack_16(uint8_t *at, uint16_t number) {
    wire_store16(at, __builtin_bswap16(number));
}

/* Write a string; the place behind it. */
static inline uint8_t *pack_string(uint8_t *at, const scan_string *string, const uint8_t *limit) {
    size_t size = string->size;
    if (size < 32 && !string->is_escaped) {
        *at++ = (uint8_t)(0xa0 | size);
        block first = block_of(string->at, limit);
        memcpy(at, &first, sizeof first);
        if (size > BLOCK_BYTES) {
            memcpy(at + BLOCK_BYTES, string->at + BLOCK_BYTES, size - BLOCK_BYTES);
        }
        return at + size;
    }
    uint8_t *content = at + 5; /* behind the longest head */
    size = (size_t)(scan_unescape(content, string) - content);
    if (size < 32) {
        *at++ = (uint8_t)(0xa0 | size);
    } else if (size <= UINT8_MAX) {
        *at++ = 0xd9;
        *at++ = (uint8_t)size;
    } else if (size <= UINT16_MAX) {
        *at++ = 0xda;
        pack_16(at, (uint16_t)size);
        at += 2;
    } else {
        *at++ = 0xdb;
        wire_store32(at, __builtin_bswap32((uint32_t)size));
        at += 4;
    }
    memmove(at, content, size);
    return at + size;
}

/* Write the `width` lowest bytes of a number, a power of two of them, behind a tag. */
static inline uint8_t *pack_tagged(uint8_t *at, uint8_t tag, uint64_t bits, unsigned width) {
    *at = tag;
    wire_store64(at + 1, __builtin_bswap64(bits << (64 - 8 * width)));
    return at + 1 + width;
}

static inline uint8_t *pack_integer(uint8_t *at, int64_t integer) {
    uint64_t bits = (uint64_t)integer;
    if (integer >= -32 && integer < 128) {
        *at = (uint8_t)integer;
        return at + 1;
    }
    if (integer >= 0) {
        unsigned power = bits <= UINT8_MAX ? 0 : bits <= UINT16_MAX ? 1 : bits <= UINT32_MAX ? 2 : 3;
        return pack_tagged(at, (uint8_t)(0xcc + power), bits, 1U << power);
    }
    unsigned power = integer >= INT8_MIN ? 0 : integer >= INT16_MIN ? 1 : integer >= INT32_MIN ? 2 : 3;
    return pack_tagged(at, (uint8_t)(0xd0 + power), bits, 1U << power);
}

static inline uint8_t *pack_real(uint8_t *at, double real) {
    uint64_t bits;
    memcpy(&bits, &real, sizeof bits);
    return pack_tagged(at, 0xcb, bits, 8);
}

/* Return where the content of a string begins that `pack_string` wrote, whose content has `*size` bytes. */
static inline const uint8_t *pack_content(const uint8_t *at, uint32_t *size) {
    if (*at < 0xd9) {
        *size = *at & 0x1f;
        return at + 1;
    }
    if (*at == 0xd9) {
        *size = at[1];
        return at + 2;
    }
    *size = *at == 0xda ? (uint32_t)at[1] << 8 | at[2] : __builtin_bswap32(tm_load32(at + 1));
    return at + (*at == 0xda ? 3 : 5);
}

#endif
