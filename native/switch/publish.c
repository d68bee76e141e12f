/* publish.c - a message from a client: checked, matched, and copied once into each output that wants it.
 *
 * Law: every rule of wire.md about a PUBLISH frame is checked before the table sees it; a receiver gets one frame with
 * all of its subscriptions that the message satisfies, its own messages only through those that ask for them.
 */
#include "switch/message.h"

#include "base/utf8.h"

/* ---- extensions ------------------------------------------------------------------------------------------------- */

/* Does a known extension have the bytes it should have, in a PUBLISH? */
static bool extension_is_sound(unsigned type, const uint8_t *bytes, uint32_t size) {
    switch (type) {
    case WIRE_REUSE_KEYS:
        return size > 0 && bytes[0] <= 1 && (size - 1) % 4 == 0;
    case WIRE_TRACE:
        return size == 8 && tm_load64(bytes) != 0;
    case WIRE_EXPIRY:
        return size == 8;
    case WIRE_GROUP:
        return size > 0 && size <= TM_NAME_BYTES_MAX && tm_utf8_valid(bytes, size);
    case WIRE_SATISFIED: /* what the last router adds; from anybody else a stranger's claim */
    case WIRE_LOG_POSITION:
        return false;
    default:
        return true;
    }
}

/* Types are few: each is looked for among those before it. */
static bool type_is_first(const uint8_t *area, uint32_t end, unsigned type) {
    for (uint32_t at = 0; at < end; at += 4U + tm_load16(area + at + 2)) {
        if (tm_load16(area + at) == type) {
            return false;
        }
    }
    return true;
}

static bool read_extensions(const uint8_t *area, uint32_t size, extensions *out) {
    uint32_t at = 0;
    for (uint32_t count = 0; at < size; count++) {
        if (size - at < 4 || size - at - 4 < tm_load16(area + at + 2) || count == WIRE_EXTENSION_COUNT_MAX) {
            return false;
        }
        unsigned type = tm_load16(area + at);
        uint32_t length = tm_load16(area + at + 2);
        if (!type_is_first(area, at, type) || !extension_is_sound(type, area + at + 4, length)) {
            return false;
        }
        out->is_strange |= (type & WIRE_MUST_UNDERSTAND) != 0;
        out->trace = type == WIRE_TRACE ? tm_load64(area + at + 4) : out->trace;
        if (type == WIRE_EXPIRY) {
            out->has_expiry = true;
            out->expiry_ns = tm_load64(area + at + 4);
        }
        at += 4 + length;
    }
    return true;
}

/* ---- checks ----------------------------------------------------------------------------------------------------- */

typedef struct verdict {
    wire_error code; /* 0: none */
    const char *text;
} verdict;

/* A DELIVER frame names at least one subscription, and is a frame like any other. */
#define DELIVERABLE_BYTES_MAX (TM_FRAME_BYTES_MAX - WIRE_SATISFIED_BYTES_MIN)
#define TOO_LARGE_TEXT "the message is larger than 1,048,568 bytes, the most that can be delivered"

/* Between routers a message has entered somewhere; from a client it enters here. */
static verdict check_sender(const uint8_t *frame, uint32_t size, const tm_connection *sender) {
    uint64_t source = tm_load64(frame + WIRE_TRANSIT);
    if (switch_is_link(sender)) {
        return source != 0 ? (verdict){0, NULL}
                           : (verdict){WIRE_WRONG_SENDER, "between routers a message has a transit source"};
    }
    uint64_t transit =
        source | tm_load64(frame + WIRE_TRANSIT + 8) | tm_load64(frame + WIRE_TRANSIT + 16) | frame[WIRE_HOPS];
    if (transit != 0) {
        return (verdict){WIRE_WRONG_SENDER, "a client leaves transit and hop limit 0"};
    }
    if (tm_load64(frame + WIRE_ORIGIN) != sender->admission.number) {
        return (verdict){WIRE_WRONG_SENDER, "the origin is not this client's number"};
    }
    if (size > DELIVERABLE_BYTES_MAX && !(frame[WIRE_FLAGS] & WIRE_FLAG_CONFIRM)) {
        return (verdict){WIRE_TOO_LONG, TOO_LARGE_TEXT};
    }
    return (verdict){0, NULL};
}

static verdict check_header(const uint8_t *frame, uint32_t size, const tm_connection *sender) {
    if (size < WIRE_HEADER_BYTES) {
        return (verdict){WIRE_TOO_SHORT, "a data frame has at least 64 bytes"};
    }
    uint64_t parts = (uint64_t)tm_load16(frame + WIRE_EXTENSION_SIZE) + tm_load32(frame + WIRE_ATTRIBUTE_SIZE);
    if (parts > size - WIRE_HEADER_BYTES) {
        return (verdict){WIRE_MALFORMED, "extensions and attributes reach past the frame"};
    }
    if (tm_load16(frame + WIRE_RESERVED_16) != 0 || (frame[WIRE_FLAGS] & ~WIRE_FLAGS_KNOWN) != 0) {
        return (verdict){WIRE_RESERVED_SET, "a reserved bit of the header is set"};
    }
    if (frame[WIRE_FLAGS] & WIRE_FLAG_OWN) {
        return (verdict){WIRE_MALFORMED, "flag OWN belongs to DELIVER frames"};
    }
    if (tm_load64(frame + WIRE_ORIGIN) == 0 || tm_load64(frame + WIRE_COUNTER) == 0) {
        return (verdict){WIRE_MALFORMED, "a message has an identity: origin and counter are not 0"};
    }
    return check_sender(frame, size, sender);
}

/* Messages of one publisher with as many attributes as each other mostly have the same ones: their form is found by
 * that, the first byte of the attributes. */
static tm_form *form_of(tm_switch *sw, const parts *message, const uint8_t *attributes) {
    bool is_from_link = switch_is_link(switch_at(sw, message->from));
    uint32_t publisher = is_from_link ? tm_load32(message->frame + WIRE_ORIGIN) : message->from;
    return &sw->forms[(publisher + attributes[0]) % SWITCH_FORMS];
}

static verdict check_attributes(tm_switch *sw, parts *message) {
    const uint8_t *bytes = message->frame + WIRE_HEADER_BYTES + message->extension_size;
    size_t size = tm_load32(message->frame + WIRE_ATTRIBUTE_SIZE);
    const uint64_t unknown[SHAPE_TABLES] = {
        sw->subscriptions.filters == 0 ? SHAPE_NO_TABLE : tm_table_unknown(sw->table),
        sw->net == NULL || sw->net->network.count == 0 ? SHAPE_NO_TABLE : tm_table_unknown(sw->net->network.table),
        sw->records == NULL || sw->records->wanted == NULL ? SHAPE_NO_TABLE : tm_table_unknown(sw->records->wanted),
    };
    message->form = form_of(sw, message, bytes);
    tm_shape *shape = &message->form->shape;
    if (unknown[SHAPE_LOCAL] != shape->unknown[SHAPE_LOCAL] ||
        unknown[SHAPE_NETWORK] != shape->unknown[SHAPE_NETWORK] ||
        unknown[SHAPE_RECORDED] != shape->unknown[SHAPE_RECORDED]) {
        tm_shape_want_all(shape, unknown);
    }
    if (tm_shape_decode(shape, bytes, size, sw->attributes, &message->attribute_count) != TM_OK) {
        return (verdict){WIRE_BAD_ATTRIBUTES, "attributes that a message may not carry"};
    }
    return (verdict){0, NULL};
}

static verdict check_extensions(const parts *message, extensions *found) {
    const uint8_t *area = message->frame + WIRE_HEADER_BYTES;
    if (message->extension_size > 0 && !read_extensions(area, message->extension_size, found)) {
        return (verdict){WIRE_BAD_EXTENSION, "the extension area or an extension is wrong"};
    }
    bool says_traced = (message->frame[WIRE_FLAGS] & WIRE_FLAG_TRACED) != 0;
    if ((found->trace != 0) != says_traced && !found->is_strange) {
        return (verdict){WIRE_MALFORMED, "flag TRACED and extension TRACE go together"};
    }
    if (message->frame[WIRE_KIND] == WIRE_DRY_RUN && found->trace == 0) {
        return (verdict){WIRE_MALFORMED, "a DRY_RUN frame has a TRACE extension"};
    }
    return (verdict){0, NULL};
}

/* Tell a fault, if there is one. */
static bool passes(tm_switch *sw, const parts *message, verdict verdict) {
    if (verdict.code != 0) {
        switch_fault(sw, message->from, verdict.code, message->frame, verdict.text);
    }
    return verdict.code == 0;
}

bool switch_check_header(tm_switch *sw, const parts *message) {
    return passes(sw, message, check_header(message->frame, message->size, switch_at(sw, message->from)));
}

bool switch_check_body(tm_switch *sw, parts *message, extensions *found) {
    message->extension_size = tm_load16(message->frame + WIRE_EXTENSION_SIZE);
    return passes(sw, message, check_attributes(sw, message)) && passes(sw, message, check_extensions(message, found));
}

/* ---- delivery --------------------------------------------------------------------------------------------------- */

/* Write the frame for a receiver, with `count` satisfied subscriptions, whose rows are a list that begins at `row`. */
static bool deliver(tm_switch *sw, const parts *message, uint32_t receiver, uint32_t row, uint32_t count) {
    uint32_t fits = (WIRE_EXTENSIONS_MAX - message->extension_size - 4) / 4; /* the rest goes unnamed */
    count = message->extension_size > WIRE_EXTENSIONS_MAX - 8 ? 0 : count < fits ? count : fits;
    uint32_t added = count > 0 ? 4 + 4 * count : 0;
    uint8_t *out = switch_queue_data(sw, receiver, message->size + added, message->from);
    if (out == NULL) {
        return false;
    }
    memcpy(out, message->frame, WIRE_HEADER_BYTES);
    wire_store32(out, message->size + added);
    out[WIRE_KIND] = WIRE_DELIVER;
    out[WIRE_FLAGS] |= receiver == message->from ? WIRE_FLAG_OWN : 0;
    out[WIRE_HOPS] = message->hops;
    wire_store64(out + WIRE_TRANSIT, message->source);
    wire_store64(out + WIRE_TRANSIT + 8, message->epoch);
    wire_store64(out + WIRE_TRANSIT + 16, message->counter);
    wire_store16(out + WIRE_EXTENSION_SIZE, (uint16_t)(message->extension_size + added));
    uint8_t *at = out + WIRE_HEADER_BYTES;
    if (count > 0) {
        wire_store16(at, WIRE_SATISFIED);
        wire_store16(at + 2, (uint16_t)(4 * count));
        at += 4;
        for (; count > 0; count--, row = sw->rows.next[row], at += 4) {
            wire_store32(at, sw->subscriptions.rows[sw->rows.links[row]].id);
        }
    }
    memcpy(at, message->frame + WIRE_HEADER_BYTES, message->size - WIRE_HEADER_BYTES);
    sw->stats.deliveries++;
    switch_at(sw, receiver)->deliveries++;
    return true;
}

/* A number that no connection and no subscription carries yet. */
static void next_stamp(tm_switch *sw) {
    if (++sw->stamp != 0) {
        return;
    }
    for (uint32_t id = 0; id < sw->connection_count; id++) {
        switch_at(sw, id)->stamp = 0;
    }
    for (uint32_t row = 0; row < sw->subscriptions.row_count; row++) {
        sw->subscriptions.rows[row].stamp = 0;
    }
    sw->stamp = 1;
}

/* Turn rows (interface, handle) into a list of subscriptions for each receiver: from here on `links` of a row is its
 * subscription. Returns how many receivers there are, in `touched`. */
static uint32_t collect(tm_switch *sw, const parts *message, size_t count) {
    uint32_t receivers = 0;
    next_stamp(sw);
    for (uint32_t row = 0; row < count; row++) {
        uint32_t id = sw->rows.links[row];
        uint32_t held = sw->subscriptions.kept[sw->rows.handles[row]].subscription;
        tm_subscription *subscription = &sw->subscriptions.rows[held];
        tm_connection *receiver = switch_at(sw, id);
        if (subscription->stamp == sw->stamp || receiver->state != CONNECTION_OPEN ||
            (id == message->from && !subscription->own_messages)) {
            continue;
        }
        subscription->stamp = sw->stamp;
        if (receiver->stamp != sw->stamp) {
            receiver->stamp = sw->stamp;
            receiver->first_row = CONNECTION_NONE;
            sw->touched[receivers++] = id;
        }
        sw->rows.links[row] = held;
        sw->rows.next[row] = receiver->first_row;
        receiver->first_row = row;
    }
    return receivers;
}

static void note_satisfied(tm_switch *sw, const tm_connection *receiver, uint32_t row) {
    for (; row != CONNECTION_NONE; row = sw->rows.next[row]) {
        uint32_t id = sw->subscriptions.rows[sw->rows.links[row]].id;
        switch_trail_add(sw, TM_TRACE_SATISFIED, receiver->admission.number, id);
    }
}

static void note_receiver(tm_switch *sw, const parts *message, uint32_t id, uint32_t row, bool sent) {
    const tm_connection *receiver = switch_at(sw, id);
    if (message->trail->is_traced) {
        note_satisfied(sw, receiver, row);
    }
    if (!message->is_dry) {
        switch_trail_add(sw, sent ? TM_TRACE_CLIENTS : TRAIL_DROPPED, receiver->admission.number, id);
    }
}

/* The same, and noted. */
static void deliver_noted(tm_switch *sw, const parts *message, uint32_t id, uint32_t first_row) {
    uint32_t satisfied = 0;
    for (uint32_t row = first_row; row != CONNECTION_NONE; row = sw->rows.next[row]) {
        satisfied++;
    }
    bool sent = !message->is_dry && deliver(sw, message, id, first_row, satisfied);
    if (message->trail != NULL) {
        note_receiver(sw, message, id, first_row, sent);
    }
}

uint32_t switch_deliver(tm_switch *sw, const parts *message, size_t count) {
    uint32_t receivers = collect(sw, message, count);
    for (uint32_t i = 0; i < receivers; i++) {
        uint32_t id = sw->touched[i];
        uint32_t row = switch_at(sw, id)->first_row;
        uint32_t copies = sw->plant.bug == TM_PLANT_NONE ? 1 : switch_plant(sw, message, &id);
        for (; copies > 0; copies--) {
            deliver_noted(sw, message, id, row);
        }
    }
    return receivers;
}

/* ---- matching --------------------------------------------------------------------------------------------------- */

static bool reserve_rows(tm_switch *sw, size_t count) {
    if (count <= sw->rows.capacity) {
        return true;
    }
    uint32_t old = sw->rows.capacity;
    uint32_t capacity = (uint32_t)count + (uint32_t)count / 2 + 64;
    uint32_t **lists[3] = {&sw->rows.links, &sw->rows.handles, &sw->rows.next};
    for (unsigned i = 0; i < 3; i++) {
        uint32_t *grown = TM_RESIZE(&sw->memory, TM_COLD, *lists[i], uint32_t, old, capacity);
        if (grown == NULL) {
            while (i-- > 0) {
                *lists[i] = TM_RESIZE(&sw->memory, TM_COLD, *lists[i], uint32_t, capacity, old);
            }
            return false;
        }
        *lists[i] = grown;
    }
    sw->rows.capacity = capacity;
    return true;
}

static int ask_table(tm_switch *sw, const parts *message, size_t *count) {
    tm_form *form = message->form;
    if (tm_few_is_ready(&form->few, &sw->subscriptions, &form->shape)) {
        *count = tm_few_match(&form->few, sw->attributes, sw->rows.links, sw->rows.handles, &sw->work);
        return tm_work_is_over(&sw->work) ? TM_TOO_COSTLY : TM_OK;
    }
    tm_query query = {.link_count = sw->connection_count, .mode = TM_MATCH_ALL, .memo = form->shape.memo[SHAPE_LOCAL]};
    tm_hits hits = {.links = sw->rows.links, .handles = sw->rows.handles, .capacity = sw->rows.capacity};
    int result = switch_ask(sw, sw->table, message, &query, &hits);
    *count = hits.count;
    if (result == TM_OK) {
        tm_shape_note_asked(&form->shape, SHAPE_LOCAL);
    }
    return result;
}

static void note_match_time(tm_switch *sw, uint64_t ns) {
    unsigned bucket = 0;
    while (bucket + 1 < TM_MATCH_BUCKETS && ns >= UINT64_C(1) << (bucket + 6)) {
        bucket++;
    }
    sw->stats.match_ns[bucket]++;
    sw->stats.match_ns_sum += ns;
    sw->stats.matches_timed++;
}

int switch_match(tm_switch *sw, const parts *message, size_t *count) {
    bool is_timed = sw->stats.messages_in % SWITCH_TIMED_EVERY == 0;
    uint64_t start = is_timed || message->trail != NULL ? tm_clock_ns() : 0;
    sw->work.steps = 0;
    *count = 0;
    if (sw->subscriptions.filters == 0) {
        return TM_OK;
    }
    if (!reserve_rows(sw, FEW_FILTERS_MAX)) {
        return TM_NO_MEMORY;
    }
    int result = ask_table(sw, message, count);
    if (result == TM_TOO_MANY) {
        result = reserve_rows(sw, *count) ? ask_table(sw, message, count) : TM_NO_MEMORY;
    }
    if (is_timed) {
        note_match_time(sw, tm_clock_ns() - start);
    }
    if (message->trail != NULL) {
        switch_trail_matched(message, start);
        message->trail->matched = (uint32_t)*count;
    }
    return result;
}

/* ---- a message -------------------------------------------------------------------------------------------------- */

static void drop(tm_switch *sw, const parts *message, unsigned reason, wire_refusal code, const char *text) {
    switch_turn_away(sw, message, reason);
    if (message->trail != NULL) {
        switch_trail_end(sw, message, reason);
    } else {
        switch_record_refusal(sw, message, reason);
    }
    if (message->frame[WIRE_FLAGS] & WIRE_FLAG_CONFIRM) {
        switch_refuse(sw, message->from, tm_load64(message->frame + WIRE_COUNTER), code, text, 0);
    } else if (code == WIRE_REFUSED_UNKNOWN_EXTENSION) {
        switch_fault(sw, message->from, WIRE_UNKNOWN_EXTENSION, message->frame, text);
    }
}

/* It enters the network. */
static void stamp(tm_switch *sw, parts *message) {
    message->source = sw->options.number;
    message->epoch = sw->options.epoch;
    message->counter = ++sw->transit;
    message->hops = sw->options.hop_limit;
    message->hops_onward = message->hops;
}

/* Who wants it is known of both tables before anybody has it: what is too costly is for nobody. */
static int match_and_depart(tm_switch *sw, const parts *message, size_t *count, uint32_t *behind) {
    int result = switch_match(sw, message, count);
    if (result == TM_OK && sw->net != NULL) {
        result = switch_depart(sw, message, sw->net->me, NEIGHBOUR_NONE, behind);
    }
    sw->stats.steps += sw->work.steps;
    return result;
}

/* Well-formed and new: out with it. */
static void forward(tm_switch *sw, parts *message, const extensions *found) {
    size_t count;
    uint32_t behind = 0;
    stamp(sw, message);
    message->trail = switch_trail_begin(sw, message, found);
    int result = match_and_depart(sw, message, &count, &behind);
    if (result == TM_TOO_COSTLY) {
        drop(sw, message, TM_DROP_COSTLY, WIRE_REFUSED_TOO_COSTLY, "matching it takes more steps than a message may");
        return;
    }
    if (result != TM_OK) {
        drop(sw, message, TM_DROP_MEMORY, WIRE_REFUSED_OUT_OF_MEMORY, "no memory for the list of receivers");
        return;
    }
    if (behind + (message->was_here ? 0 : switch_deliver(sw, message, count)) == 0) {
        switch_turn_away(sw, message, TM_DROP_UNMATCHED);
    }
    switch_trim_shape(message);
    if (message->trail != NULL) {
        switch_trail_end(sw, message, TM_TRACE_NOT_DROPPED);
    }
    if ((message->frame[WIRE_FLAGS] & WIRE_FLAG_CONFIRM) && !message->is_dry) {
        switch_confirm(sw, message->from, tm_load64(message->frame + WIRE_COUNTER));
    }
}

/* Is it one that this publisher may send now, and that has not come before? It is noted, or refused. */
static bool take_counter(tm_switch *sw, parts *message) {
    tm_connection *publisher = switch_at(sw, message->from);
    uint64_t counter = tm_load64(message->frame + WIRE_COUNTER);
    tm_counter found = switch_note_counter(sw, publisher, counter);
    message->was_here = found == COUNTER_NEW_BUT_DELIVERED;
    if (found == COUNTER_NEW || message->was_here) {
        return true;
    }
    if (found == COUNTER_NO_MEMORY) {
        drop(sw, message, TM_DROP_MEMORY, WIRE_REFUSED_OUT_OF_MEMORY, "no memory to remember the publisher");
    } else {
        switch_refuse_counter(sw, message, found);
    }
    return false;
}

static void admit(tm_switch *sw, parts *message, const extensions *found) {
    if (message->size > DELIVERABLE_BYTES_MAX) {
        drop(sw, message, TM_DROP_TOO_LARGE, WIRE_REFUSED_TOO_LARGE, TOO_LARGE_TEXT);
    } else if (found->is_strange) {
        drop(sw, message, TM_DROP_EXTENSION, WIRE_REFUSED_UNKNOWN_EXTENSION,
             "an extension that must be understood, and is not");
    } else if (sw->is_draining) {
        drop(sw, message, TM_DROP_DRAINING, WIRE_REFUSED_DRAINING, "the router is draining");
    } else if (switch_is_expired(found)) {
        drop(sw, message, TM_DROP_EXPIRED, WIRE_REFUSED_EXPIRED, "the message's expiry has passed");
    } else if (sw->step == TM_STEP_REFUSE && (message->frame[WIRE_FLAGS] & WIRE_FLAG_CONFIRM) && !message->is_dry) {
        drop(sw, message, TM_DROP_NOT_IN_STEP, WIRE_REFUSED_NOT_IN_STEP,
             "a linked neighbour does not hold yet what this router holds, or the reverse");
    } else if (message->is_dry || take_counter(sw, message)) {
        forward(sw, message, found);
    }
}

void switch_publish(tm_switch *sw, uint32_t id, const uint8_t *frame, uint32_t size) {
    parts message = {.frame = frame, .size = size, .from = id, .is_dry = frame[WIRE_KIND] == WIRE_DRY_RUN};
    extensions found = {0};
    if (!switch_check_header(sw, &message) || !switch_check_body(sw, &message, &found)) {
        return;
    }
    switch_at(sw, id)->messages_in++;
    sw->stats.messages_in++;
    if (found.trace == 0 || switch_afford_trace(sw, &message, &found)) {
        admit(sw, &message, &found);
    }
}
