/* message.h - a data frame on its way through the switch.
 *
 *     publish.c  from a client   --+-->  matching/   the rules about its frame; which of our clients want it
 *     transit.c  from a link     --+-->  forwarding/ by which links it leaves
 *                                  +-->  deliver.c   one copy for each client
 *
 * Law: a message is looked at where it lies; what is stamped is written into the copies alone.
 */
#ifndef TM_SWITCH_MESSAGE_H
#define TM_SWITCH_MESSAGE_H

#include "base/clock.h"
#include "switch/state.h"

typedef struct tm_message {
    const uint8_t *frame; /* borrowed */
    uint32_t size;
    uint32_t extension_size;
    uint32_t from; /* connection */
    tm_form *form; /* of the switch */
    size_t attribute_count;
    uint64_t source; /* transit, as it is stamped */
    uint64_t epoch;
    uint64_t counter;
    uint8_t hops; /* left when it came here, or was stamped */
    uint8_t hops_onward;
    bool is_dry;            /* delivered to nobody */
    bool was_here;          /* local clients had it when it entered elsewhere */
    const uint8_t *choices; /* R16: of GROUP_CHOICE, WIRE_CHOICE_BYTES each; borrowed from the frame or from the net */
    uint32_t choice_count;
    bool members_only;    /* for members at the routers of `choices`, and nobody else */
    uint32_t key;         /* of its routes (routes.h) */
    uint32_t route_bytes; /* of ROUTE with its head, in front of all other extensions; 0: there is none */
    uint32_t wanted_by;   /* keeps that it was to be stored for */
    tm_trail *trail;      /* NULL: nobody asks; borrowed from the switch */
} tm_message;

_Static_assert(sizeof(tm_message) == 112, "a new field is assigned in switch_message");

/* A frame of a connection, of which nothing is known yet. Each field has its assignment: a compiler clears a whole of
 * this size by an instruction that takes longer than all of them. */
static inline tm_message switch_message(const uint8_t *frame, uint32_t size, uint32_t from) {
    tm_message message;
    message.frame = frame;
    message.size = size;
    message.extension_size = 0;
    message.from = from;
    message.form = NULL;
    message.attribute_count = 0;
    message.source = 0;
    message.epoch = 0;
    message.counter = 0;
    message.hops = 0;
    message.hops_onward = 0;
    message.is_dry = frame[WIRE_KIND] == WIRE_DRY_RUN;
    message.was_here = false;
    message.choices = NULL;
    message.choice_count = 0;
    message.members_only = false;
    message.key = 0;
    message.route_bytes = 0;
    message.wanted_by = 0;
    message.trail = NULL;
    return message;
}

typedef struct extensions {
    uint64_t expiry_ns; /* 0: none */
    bool has_expiry;
    uint64_t trace;  /* 0: none */
    bool is_strange; /* one that must be understood is not */
    bool members_only;
    bool tells_unwanted;    /* the publisher asks to be told if nobody wants it */
    bool has_keys;          /* of subscriptions that match */
    const uint8_t *choices; /* borrowed from the frame */
    uint32_t choice_count;
    uint32_t route_bytes;
} extensions;

/* What a ROUTE says: its mode, how many routers it names and their numbers; that of TREE is the root's. */
static inline unsigned switch_route_mode(const tm_message *message) {
    return message->frame[WIRE_HEADER_BYTES + 4];
}
static inline uint32_t switch_route_count(const tm_message *message) {
    return (message->route_bytes - 5) / 8;
}
static inline uint64_t switch_route_router(const tm_message *message, uint32_t i) {
    return tm_load64(message->frame + WIRE_HEADER_BYTES + 5 + i * 8U);
}

/* The number of the root along whose tree a data frame says that it goes; 0: of none. The frame has a header, and may
 * be anything behind it. */
static inline uint64_t switch_root_of(const uint8_t *frame, size_t size) {
    const uint8_t *area = frame + WIRE_HEADER_BYTES;
    bool is_rooted = tm_load16(frame + WIRE_EXTENSION_SIZE) >= WIRE_ROUTE_TREE_BYTES &&
                     size >= WIRE_HEADER_BYTES + WIRE_ROUTE_TREE_BYTES && tm_load16(area) == WIRE_ROUTE &&
                     tm_load16(area + 2) == WIRE_ROUTE_TREE_BYTES - 4 && area[4] == WIRE_ROUTE_TREE;
    return is_rooted ? tm_load64(area + 5) : 0;
}

/* A DELIVER frame names at least one subscription, and is a frame like any other. */
#define DELIVERABLE_BYTES_MAX (TM_FRAME_BYTES_MAX - WIRE_SATISFIED_BYTES_MIN)
#define TOO_LARGE_TEXT "the message is larger than 1,048,568 bytes, the most that can be delivered"

/* Tables of the shape. */
#define SHAPE_LOCAL 0U
#define SHAPE_NETWORK 1U
#define SHAPE_RECORDED 2U
#define SHAPE_SHARED 3U
#define SHAPE_CLASSES 4U

/* It came, and goes no further. */
static inline void switch_turn_away(tm_switch *sw, const tm_message *message, unsigned reason) {
    switch_count_drop(sw, reason, 1, message->size);
    switch_at(sw, message->from)->traffic.told.refused[reason]++;
}

/* Stamp a message that enters the network here: its source, epoch, counter and hops. */
static inline void switch_stamp_entry(tm_switch *sw, tm_message *message) {
    message->source = sw->options.number;
    message->epoch = sw->options.epoch;
    message->counter = ++sw->transit;
    message->hops = sw->options.hop_limit;
    message->hops_onward = message->hops;
    message->key = sw->net != NULL ? tm_key_of_source(sw->net->me) : 0;
}

/* After the last match of a message. One that may name a space is checked whole. */
static inline void switch_trim_shape(const tm_message *message) {
    tm_form *form = message->form;
    bool may_name_space = form->fit.version == form->shape.version && form->fit.naming != FIT_NONE;
    if (!form->shape.is_trimmed && !may_name_space) {
        tm_shape_trim(&form->shape);
    }
}

#endif
