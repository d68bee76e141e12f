/* fuzz_deliveries.c - libFuzzer target: any bytes as what a client has read from its router.
 *
 * Law: the walk goes over whole frames and over nothing behind them; of each it says what a reading of the header and
 * of every extension, one after the other, says; it stops at a frame that this reading finds unusual, and at no other.
 */
#include "model/wire.h"
#include "support.h"

#define ROWS 64U

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

typedef struct delivery {
    size_t length;
    uint32_t id;
    uint64_t position;
} delivery;

/* The extensions of a plain delivery or of one from a durable subscription, in the order in which routers write them.
 */
static bool read_extensions(const uint8_t *area, size_t size, delivery *out) {
    static const uint16_t types[] = {WIRE_SATISFIED, WIRE_LOG_POSITION, WIRE_DELIVERIES};
    static const uint16_t sizes[] = {4, 8, 5};
    size_t at = 0;
    size_t count = 0;
    for (; at < size; count++) {
        if (count == 3 || size - at < 4 || tm_load16(area + at) != types[count] ||
            tm_load16(area + at + 2) != sizes[count] || size - at - 4 < sizes[count]) {
            return false;
        }
        const uint8_t *value = area + at + 4;
        bool is_replayed = (value[4 * (count == 2)] & WIRE_REPLAYED) != 0;
        if (count == 0) {
            out->id = tm_load32(value);
        } else if (count == 1) {
            out->position = tm_load64(value);
        } else if (value[4] > 7 || is_replayed != (tm_load32(value) == 0)) {
            return false;
        }
        at += 4U + sizes[count];
    }
    return count == 1 || (count == 3 && out->position != 0);
}

/* Is there a whole ordinary delivery at `bytes`? */
static bool read_delivery(const uint8_t *bytes, size_t size, delivery *out) {
    *out = (delivery){0};
    if (size < WIRE_HEADER_BYTES) {
        return false;
    }
    out->length = tm_load32(bytes);
    if (out->length < WIRE_HEADER_BYTES || out->length > size || out->length > TM_FRAME_BYTES_MAX ||
        bytes[WIRE_KIND] != WIRE_DELIVER || bytes[WIRE_FLAGS] >= WIRE_FLAG_TRACED || bytes[WIRE_RESERVED] != 0 ||
        tm_load16(bytes + WIRE_RESERVED_16) != 0 || tm_load64(bytes + WIRE_ORIGIN) == 0 ||
        tm_load64(bytes + WIRE_COUNTER) == 0) {
        return false;
    }
    size_t extensions = tm_load16(bytes + WIRE_EXTENSION_SIZE);
    size_t attributes = tm_load32(bytes + WIRE_ATTRIBUTE_SIZE);
    return WIRE_HEADER_BYTES + extensions + attributes <= out->length &&
           read_extensions(bytes + WIRE_HEADER_BYTES, extensions, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    uint32_t ends[ROWS];
    uint32_t ids[ROWS];
    uint64_t positions[ROWS];
    uint8_t *exact = malloc(size > 0 ? size : 1); /* ours until the end: a byte read behind it is found */
    CHECK(exact != NULL, "memory");
    memcpy(exact, bytes, size);
    size_t count = tm_deliveries_walk(exact, size, ends, ids, positions, ROWS);
    size_t at = 0;
    delivery one;
    CHECK(count <= ROWS, "%zu rows", count);
    for (size_t row = 0; row < count; row++) {
        CHECK(read_delivery(exact + at, size - at, &one), "row %zu is no delivery", row);
        CHECK(ends[row] == at + one.length && ids[row] == one.id && positions[row] == one.position, "row %zu", row);
        at = ends[row];
    }
    CHECK(count == ROWS || !read_delivery(exact + at, size - at, &one),
          "reading stops before row %zu, which is a delivery", count);
    free(exact);
    return 0;
}
