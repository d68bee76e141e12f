/* message.h - a data frame on its way through the switch, and the steps it takes.
 *
 *     publish.c   from a client: seen before?, stamped   --+-->  check.c    first: the rules about its frame
 *     transit.c   from a link: parent, window, hops      --+-->  local.c    then: which of our clients want it
 *                                                          +-->  forward.h  and which links it leaves by
 *     group_choice.c  which router's member of each worker group gets it
 *     match_first.c   a message that enters here lists the routers it goes to
 *     by_root.c       or goes along the tree of a root
 *     fit.c       does it fit the space that it names?
 *     plant.c     deliveries that go wrong, where a test has asked for it
 *     unmatched.c the latest messages that nobody wanted
 *     trail.c     what happened to a message, for trace.c and record.c
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

/* ---- check.c ---- */

/* The header, but for what depends on the rest. false: a fault was told. */
bool switch_check_header(tm_switch *sw, const tm_message *message);
/* Attributes, which are decoded, and extensions. false: a fault was told. */
bool switch_check_body(tm_switch *sw, tm_message *message, extensions *found);
/* What the table of classes, whose filters never change, remembers of a name that none of them speaks of. */
uint64_t switch_unknown_to_classes(const tm_switch *sw);
/* Decode the attributes of a message that was checked once more, this time all of them. */
void switch_decode_all(tm_switch *sw, tm_message *message);
static inline bool switch_is_expired(const extensions *found) {
    return found->has_expiry && found->expiry_ns <= tm_clock_unix_ns();
}

/* ---- fit.c ---- */

/* May the message enter, by the spaces that are known? false: `*out` says why not. There are spaces. */
bool switch_fits(tm_switch *sw, tm_message *message, tm_misfit *out);

/* ---- local.c ---- */

/* Where there are local filters. */
int switch_match_some(tm_switch *sw, const tm_message *message, size_t *count);
/* Rows of local filters that match, in `sw->rows`: TM_OK, TM_NO_MEMORY or TM_TOO_COSTLY. What the message may cost
 * begins anew. Here, as many routers have no clients that subscribe. */
static inline int switch_match(tm_switch *sw, const tm_message *message, size_t *count) {
    sw->work.steps = 0;
    *count = 0;
    return sw->subscriptions.filters == 0 ? TM_OK : switch_match_some(sw, message, count);
}
/* A table is asked, and what it cost is counted. */
static inline int switch_ask(tm_switch *sw, tm_table *table, const tm_message *message, tm_query *query,
                             tm_hits *hits) {
    query->steps_max = sw->work.steps_max - sw->work.steps;
    query->steps_max += query->steps_max == 0; /* one, which will not do either */
    int result = tm_table_match(table, sw->attributes, message->attribute_count, query, hits);
    sw->work.steps += hits->steps;
    return result;
}

/* ---- deliver.c ---- */

/* Where there are rows, or choices. */
uint32_t switch_deliver_some(tm_switch *sw, const tm_message *message, size_t count);
/* One frame to each subscriber among the rows; returns how many there are. */
static inline uint32_t switch_deliver(tm_switch *sw, const tm_message *message, size_t count) {
    return count == 0 && message->choice_count == 0 ? 0 : switch_deliver_some(sw, message, count);
}

/* ---- counters.c ---- */

/* The counter of a message that its publisher sends here: noted, unless it is refused. */
tm_counter switch_note_counter(tm_switch *sw, tm_connection *publisher, uint64_t counter);
/* Turn it away for its counter, and say so where a confirmation was asked for. */
void switch_refuse_counter(tm_switch *sw, const tm_message *message, tm_counter why);

/* ---- group_choice.c ---- */

/* A message enters here, and `count` rows of local filters match: choose a router for each worker group that wants it.
 * `*onward` is the message as other routers get it, with the choices in its frame. TM_OK, or TM_TOO_COSTLY; without
 * memory, or room in the frame, groups get nothing of it, which is counted. */
int switch_choose(tm_switch *sw, tm_message *message, size_t count, tm_message *onward);
/* Look up the names of a message in transit in the table of groups, until its shape is trimmed. */
void switch_learn_names(tm_switch *sw, const tm_message *message);
/* Nothing of a message with choices has been given to members yet. */
void switch_begin_sharing(tm_switch *sw, const tm_message *message);
/* Does a member here get the message as one of the group, by its number: is this router chosen, and had no member an
 * earlier try? Alone it always is. */
bool switch_shares(tm_switch *sw, const tm_message *message, uint32_t group);
/* Members here have theirs. Pass the message on for each group that this router was chosen for and has no member of,
 * and count where it ends here; returns for how many groups no member here got it. */
uint32_t switch_end_sharing(tm_switch *sw, const tm_message *message);
/* Does a message that enters here need a choice? */
static inline bool switch_has_groups(const tm_switch *sw) {
    return sw->net != NULL && (sw->net->shared.network.count > 0 || sw->subscriptions.groups.live > 0);
}

/* ---- plant.c ---- */

/* How often a delivery is made, and to whom, where a bug is planted. */
uint32_t switch_plant(tm_switch *sw, const tm_message *message, uint32_t *id);

/* ---- transit.c ---- */

/* A data frame from a link; `again`: it was handed up for want of a route, and is not once more. */
void switch_transit(tm_switch *sw, uint32_t connection, const uint8_t *frame, uint32_t size, bool again);

/* ---- order.c ---- */

/* Note that a message has come, for those that wait for it (R5c). */
void switch_note_reached(tm_switch *sw, const tm_message *message);

/* ---- shed.c ---- */

/* Somebody behind a neighbour (a place; NEIGHBOUR_NONE: anybody, here too) misses a message. */
void switch_note_shed(tm_switch *sw, const tm_message *message, uint32_t place, wire_loss reason);

/* ---- unmatched.c ---- */

/* Keep what can be shown of a message that entered here and is wanted by nobody, if it is sampled. Call it only where
 * `sw->unmatched.bytes` is there. */
void switch_note_unmatched(tm_switch *sw, const tm_message *message);

/* ---- trail.c ---- */

/* The trail of a message that may be recorded, or is to be traced. */
tm_trail *switch_trail_new(tm_switch *sw, const tm_message *message, const extensions *found);
/* Begin the trail of a message that is traced, a dry run, or sampled; NULL: it is none of them, or there is no memory.
 */
static inline tm_trail *switch_trail_begin(tm_switch *sw, const tm_message *message, const extensions *found) {
    return sw->records != NULL || found->trace != 0 ? switch_trail_new(sw, message, found) : NULL;
}
/* Around a match: its time, where somebody asks. */
static inline uint64_t switch_trail_clock(const tm_message *message) {
    return message->trail != NULL ? tm_clock_ns() : 0;
}
static inline void switch_trail_matched(const tm_message *message, uint64_t start_ns) {
    if (message->trail != NULL) {
        message->trail->head.match_ns += tm_clock_ns() - start_ns;
    }
}
void switch_trail_add(tm_switch *sw, unsigned list, uint64_t number, uint64_t id);
/* Hand the trail on to the trace and the records that asked for it; `reason`: TM_DROP_* or TM_TRACE_NOT_DROPPED. */
void switch_trail_end(tm_switch *sw, const tm_message *message, unsigned reason);
/* Is the matching filter of each other router noted as well? It takes another kind of match. */
static inline bool switch_is_traced(const tm_message *message) {
    return message->trail != NULL && message->trail->is_traced;
}
/* Record a message that is refused before it is matched. */
void switch_record_refusal(tm_switch *sw, const tm_message *message, unsigned reason);
void switch_trail_free(tm_trail *trail, tm_memory *memory);

/* ---- trace.c ---- */

void switch_trace(tm_switch *sw, const tm_message *message);
/* May this client have one more message traced? If not, a dry run is refused, and false; any other message goes on
 * without its trace, of which `found` knows no more. */
bool switch_afford_trace(tm_switch *sw, tm_message *message, extensions *found);

/* ---- record.c ---- */

/* Is the message to be recorded? The id alone decides where the body was not read (`form` is NULL). */
bool switch_is_recorded(tm_switch *sw, const tm_message *message);
void switch_record(tm_switch *sw, const tm_message *message);

#endif
