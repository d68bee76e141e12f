/* frames.h - frames as the tests of the switch write them.
 *
 * Law: what is written here is whole and sound; a test that wants it otherwise changes the bytes.
 */
#ifndef TM_TEST_FRAMES_H
#define TM_TEST_FRAMES_H

#include "model/wire.h"
#include "support.h"

typedef struct frame {
    uint8_t bytes[1 << 18];
    uint32_t size;
} frame;

void begin(frame *out, uint8_t kind);
void put_byte(frame *out, unsigned byte);

/* One subscription with one filter. */
void subscribe_frame(frame *out, uint32_t id, bool own, const uint8_t *filter, uint32_t size);
void publish_frame(frame *out, uint64_t origin, uint64_t counter, bool confirm, const wire *message, uint32_t payload);

/* A msgpack unsigned integer; `*at` moves behind it. */
uint64_t read_unsigned(const uint8_t **at);

#endif
