/* pack.h - write Tamis frames with bodies of msgpack: a frame is begun, filled, and ended, which sets its length.
 */
#ifndef PACK_H
#define PACK_H

#include "records.h"

size_t pack_begin(buffer *out, uint8_t kind);
void pack_end(buffer *out, size_t start);
void pack_unsigned(buffer *out, uint64_t number);
void pack_array(buffer *out, size_t count);
void pack_bytes(buffer *out, record bytes);
/* At most 31 bytes. */
void pack_text(buffer *out, const char *text);

#endif
