/* delivery.h - a DELIVER frame, read in place.
 *
 * Law: what is read lies inside of the frame. Attributes are read by the codec that writes them.
 */
#ifndef TM_RELAY_DELIVERY_H
#define TM_RELAY_DELIVERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct delivery {
    const uint8_t *frame; /* borrowed, as are all below */
    uint32_t size;
    const uint8_t *ids; /* of SATISFIED, four bytes each */
    uint32_t id_count;
    const uint8_t *attributes;
    const uint8_t *payload;
    uint64_t position;   /* 0: of no durable subscription */
    uint32_t deliveries; /* delivery attempts */
    uint8_t bits;        /* of DELIVERIES */
    bool has_deliveries;
} delivery;

typedef enum { DELIVERY_WHOLE, DELIVERY_PARTIAL, DELIVERY_OTHER, DELIVERY_UNSOUND } delivery_state;

/* Read the frame at the begin of `size` bytes. */
delivery_state delivery_read(const uint8_t *bytes, size_t size, delivery *out);

#endif
