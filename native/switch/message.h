/* message.h - a data frame on its way through the switch.
 *
 *     publish.c  from a client   --+-->  matching/   the rules about its frame, and the local clients that want it
 *     transit.c  from a link     --+-->  forwarding/ the links by which it leaves
 *                                  +-->  deliver.c   one copy for each client
 *
 * Law: a message is read in its receive buffer; the stamp is written into the copies alone.
 */
#ifndef TM_SWITCH_MESSAGE_H
#define TM_SWITCH_MESSAGE_H

#include "base/clock.h"
#include "switch/state.h"

typedef struct tm_message {
    const uint8_t *frame; /* borrowed */
    uint32_t size;
    uint32_t extension_size;
    uint32_t from; /* connection that it came from */
    tm_form *form; /* borrowed from the switch */
    size_t attribute_count;
    uint64_t source; /* router where the message entered the network, as stamped */
    uint64_t epoch;
    uint64_t counter;
    uint8_t hops; /* hops left on arrival, or as stamped on entry */
    uint8_t hops_onward;
    bool is_dry;            /* a dry run: no copy is delivered */
    bool was_here;          /* local clients got it when it entered at another router */
    bool was_stored;        /* it entered here before, and durable subscriptions here that want it have it */
    bool for_every_home;    /* its publisher waits until it is on disk at each home (EVERY_HOME) */
    const uint8_t *choices; /* R16: WIRE_CHOICE_BYTES each, of GROUP_CHOICE; borrowed from the frame or from the net */
    uint32_t choice_count;
    bool members_only;    /* only worker group members at the routers of `choices` get it */
    uint32_t key;         /* key of its routes (routes.h) */
    uint32_t route_bytes; /* size of ROUTE with its header, in front of all other extensions; 0: the message has none.
                           * Of a DIRECTED that has arrived, that of CUSTODY */
    uint32_t wanted_by;   /* number of durable subscriptions that it matched */
    tm_trail *trail;      /* borrowed from the switch; NULL: neither traced nor recorded */
} tm_message;

_Static_assert(sizeof(tm_message) == 112, "a new field is assigned in switch_message");

/* Return a message for an unparsed frame of a connection. Fields are assigned one by one because the compiler's memset
 * of the struct is slower. */
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
    message.was_stored = false;
    message.for_every_home = false;
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
    bool is_strange; /* has an unknown extension that must be understood */
    bool members_only;
    bool tells_unwanted;    /* the publisher requests a refusal if no subscription matches */
    bool has_keys;          /* has keys of matching subscriptions */
    const uint8_t *choices; /* borrowed from the frame */
    uint32_t choice_count;
    uint32_t route_bytes;
} extensions;

/* Fields of a ROUTE: its mode, the number of routers and their numbers; in mode TREE the only router is the root. */
static inline unsigned switch_route_mode(const tm_message *message) {
    return message->frame[WIRE_HEADER_BYTES + 4];
}
static inline uint32_t switch_route_count(const tm_message *message) {
    return (message->route_bytes - 5) / 8;
}
static inline uint64_t switch_route_router(const tm_message *message, uint32_t i) {
    return tm_load64(message->frame + WIRE_HEADER_BYTES + 5 + i * 8U);
}

/* Return the number of the root whose tree the data frame follows (ROUTE, mode TREE); 0: it follows none. The frame has
 * a complete header; its extensions may be malformed. */
static inline uint64_t switch_root_of(const uint8_t *frame, size_t size) {
    const uint8_t *area = frame + WIRE_HEADER_BYTES;
    bool is_rooted = tm_load16(frame + WIRE_EXTENSION_SIZE) >= WIRE_ROUTE_TREE_BYTES &&
                     size >= WIRE_HEADER_BYTES + WIRE_ROUTE_TREE_BYTES && tm_load16(area) == WIRE_ROUTE &&
                     tm_load16(area + 2) == WIRE_ROUTE_TREE_BYTES - 4 && area[4] == WIRE_ROUTE_TREE;
    return is_rooted ? tm_load64(area + 5) : 0;
}

/* A DELIVER frame adds at least one subscription and is bound by the frame limit. */
#define DELIVERABLE_BYTES_MAX (TM_FRAME_BYTES_MAX - WIRE_SATISFIED_BYTES_MIN)
#define TOO_LARGE_TEXT "the message is larger than 1,048,568 bytes, the most that can be delivered"

/* Tables that share one shape. */
#define SHAPE_LOCAL 0U
#define SHAPE_NETWORK 1U
#define SHAPE_RECORDED 2U
#define SHAPE_SHARED 3U
#define SHAPE_CLASSES 4U

/* Count a message that was received and is dropped. */
static inline void switch_turn_away(tm_switch *sw, const tm_message *message, unsigned reason) {
    switch_count_drop(sw, reason, 1, message->size);
    switch_at(sw, message->from)->traffic.told.refused[reason]++;
}

/* Stamp a message that enters the network here with its source, epoch, counter and hops. */
static inline void switch_stamp_entry(tm_switch *sw, tm_message *message) {
    message->source = sw->options.number;
    message->epoch = sw->options.epoch;
    message->counter = ++sw->transit;
    message->hops = sw->options.hop_limit;
    message->hops_onward = message->hops;
    message->key = sw->net != NULL ? tm_key_of_source(sw->net->me) : 0;
}

/* Trim the shape after the last match of a message; names that guards and programs ask for are kept. A shape whose
 * messages may name a space keeps all attributes, because validation reads each of them. */
static inline void switch_trim_shape(const tm_switch *sw, const tm_message *message) {
    tm_form *form = message->form;
    bool may_name_space = form->fit.version == form->shape.version && form->fit.naming != FIT_NONE;
    if (!form->shape.is_trimmed && !may_name_space) {
        tm_shape_trim(&form->shape, &sw->kept_names, &sw->memory.key);
    }
}

#endif
