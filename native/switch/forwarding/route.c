/* route.c - see route.h. */
#include "switch/forwarding/route.h"

#include "base/grow.h"

bool switch_set_route(tm_switch *sw, const tm_message *message, const uint8_t *route, uint32_t size, tm_message *out) {
    tm_net *net = sw->net;
    uint32_t added = size > 0 ? 4 + size : 0;
    uint32_t others = message->extension_size - message->route_bytes;
    uint32_t bytes = message->size - message->route_bytes;
    bool is_too_long = added > 0 && (others + added > WIRE_EXTENSIONS_MAX || bytes + added > DELIVERABLE_BYTES_MAX);
    if (is_too_long || !tm_grow(&sw->memory, TM_COLD, &net->routed_frame, 1, &net->routed_capacity, bytes + added)) {
        return false;
    }
    uint8_t *area = net->routed_frame + WIRE_HEADER_BYTES;
    memcpy(net->routed_frame, message->frame, WIRE_HEADER_BYTES);
    wire_store32(net->routed_frame, bytes + added);
    wire_store16(net->routed_frame + WIRE_EXTENSION_SIZE, (uint16_t)(others + added));
    if (added > 0) {
        wire_store16(area, WIRE_ROUTE);
        wire_store16(area + 2, (uint16_t)size);
        memcpy(area + 4, route, size);
    }
    memcpy(area + added, message->frame + WIRE_HEADER_BYTES + message->route_bytes, bytes - WIRE_HEADER_BYTES);
    *out = *message;
    out->frame = net->routed_frame;
    out->size = bytes + added;
    out->extension_size = others + added;
    out->route_bytes = added;
    return true;
}

tm_message switch_with_route(tm_switch *sw, const tm_message *message, const uint8_t *route, uint32_t size) {
    tm_message routed;
    return switch_set_route(sw, message, route, size, &routed) ? routed : *message;
}
