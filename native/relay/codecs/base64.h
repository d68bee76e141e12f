/* base64.h - bytes as text and back, by RFC 4648 with padding.
 *
 * Law: that of Python's b64decode(validate=True): no other character, padding to a multiple of four; bits behind the
 * last byte are not looked at.
 */
#ifndef TM_RELAY_BASE64_H
#define TM_RELAY_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Return the size of `size` bytes as text. */
static inline size_t base64_size(size_t size) {
    return (size + 2) / 3 * 4;
}

/* Write `size` bytes as text; return the place behind it. */
uint8_t *base64_write(uint8_t *at, const uint8_t *bytes, size_t size);

/* Turn `*size` bytes of text into bytes, in place; false: it is no base64, and undefined then. */
bool base64_read(uint8_t *text, size_t *size);

#endif
