/* text.h - what protocols of lines share: where a line ends, and a message behind the line that announces it.
 */
#ifndef TEXT_H
#define TEXT_H

#include <string.h>

#include "records.h"

/* The length of the first line, its end included; 0 if it is not all there. */
static inline size_t text_line(const uint8_t *data, size_t length) {
    const uint8_t *end = memchr(data, '\n', length);
    return end == NULL ? 0 : (size_t)(end - data) + 1;
}

/* Append a message and a line end; returns where the message begins. */
static inline size_t text_put_message(buffer *out, record frame) {
    put_bytes(out, frame.bytes, frame.length);
    put_text(out, "\r\n");
    return out->length - 2 - frame.length;
}

#endif
