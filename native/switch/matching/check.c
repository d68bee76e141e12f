/* check.c - see check.h.
 *
 * Law: every rule about the header, the attributes and the extensions is checked here, before a table matches the
 * message; a frame that breaks one is reported as a fault. The attributes are decoded into `sw->attributes`.
 */
#include "switch/matching/check.h"

#include "base/utf8.h"
#include "switch/connections/connection.h"
#include "switch/connections/events.h"

/* ---- extensions ---- */

/* true if the groups ascend from 1 and each names a router */
static bool choices_are_sound(const uint8_t *bytes, uint32_t size) {
    uint32_t below = 0;
    for (uint32_t at = 0; at < size; at += WIRE_CHOICE_BYTES) {
        uint32_t group = tm_load32(bytes + at);
        if (group <= below || tm_load64(bytes + at + 4) == 0) {
            return false;
        }
        below = group;
    }
    return true;
}

/* true for all routers, an ascending list of routers, a root, any set, or any keys */
static bool route_is_sound(const uint8_t *bytes, uint32_t size) {
    uint64_t below = 0;
    if (size > 0 && bytes[0] == WIRE_ROUTE_SET) {
        return size > 1 + WIRE_DIGEST_BYTES && size <= 1 + WIRE_DIGEST_BYTES + WIRE_SET_BYTES_MAX;
    }
    if (size > 0 && bytes[0] == WIRE_ROUTE_KEYS) {
        return size > WIRE_KEYS_AT && size % 4 == WIRE_KEYS_AT % 4 && size <= WIRE_KEYS_AT + 4 * WIRE_KEYS_MAX &&
               bytes[1] <= 1;
    }
    if (size == 0 || size % 8 != 1 || size > 1 + 8 * WIRE_ROUTE_ROUTERS_MAX) {
        return false;
    }
    for (uint32_t at = 1; at < size; at += 8) {
        uint64_t router = tm_load64(bytes + at);
        if (router <= below) {
            return false;
        }
        below = router;
    }
    bool is_of_one = size == 9 && bytes[0] == WIRE_ROUTE_TREE;
    return is_of_one || (size == 1 ? bytes[0] == WIRE_ROUTE_ALL : bytes[0] == WIRE_ROUTE_LIST);
}

/* true if a known extension has a valid size and content for a PUBLISH */
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
    case WIRE_SATISFIED: /* only the last router adds it to a DELIVER */
    case WIRE_LOG_POSITION:
        return false;
    case WIRE_MEMBERS_ONLY:
    case WIRE_TELL_UNWANTED:
        return size == 0;
    case WIRE_ROUTE:
        return route_is_sound(bytes, size);
    case WIRE_GROUP_CHOICE:
        return size > 0 && size % WIRE_CHOICE_BYTES == 0 && size <= WIRE_CHOICE_BYTES * WIRE_CHOICES_MAX &&
               choices_are_sound(bytes, size);
    default:
        return true;
    }
}

/* Linear, because a frame has few types. */
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
        if (!type_is_first(area, at, type) || !extension_is_sound(type, area + at + 4, length) ||
            (type == WIRE_ROUTE && at > 0)) {
            return false;
        }
        out->route_bytes = type == WIRE_ROUTE ? 4 + length : out->route_bytes;
        out->is_strange |= (type & WIRE_MUST_UNDERSTAND) != 0 && type != WIRE_ROUTE;
        out->members_only |= type == WIRE_MEMBERS_ONLY;
        out->tells_unwanted |= type == WIRE_TELL_UNWANTED;
        out->has_keys |= type == WIRE_REUSE_KEYS;
        if (type == WIRE_GROUP_CHOICE) {
            out->choices = area + at + 4;
            out->choice_count = length / WIRE_CHOICE_BYTES;
        }
        out->trace = type == WIRE_TRACE ? tm_load64(area + at + 4) : out->trace;
        if (type == WIRE_EXPIRY) {
            out->has_expiry = true;
            out->expiry_ns = tm_load64(area + at + 4);
        }
        at += 4 + length;
    }
    return true;
}

/* ---- checks ---- */

typedef struct verdict {
    wire_error code; /* 0: none */
    const char *text;
} verdict;

/* Between routers a message has a transit id; from a client it has none, because it enters here. */
static verdict check_sender(const uint8_t *frame, uint32_t size, const tm_connection *sender) {
    uint64_t source = tm_load64(frame + WIRE_TRANSIT);
    if (switch_is_link(sender)) {
        return source != 0 ? (verdict){0, NULL}
                           : (verdict){WIRE_WRONG_SENDER, "a message between routers needs a transit source"};
    }
    uint64_t transit =
        source | tm_load64(frame + WIRE_TRANSIT + 8) | tm_load64(frame + WIRE_TRANSIT + 16) | frame[WIRE_HOPS];
    if (transit != 0) {
        return (verdict){WIRE_WRONG_SENDER, "transit source and hop limit of a client's message must be 0"};
    }
    if (tm_load64(frame + WIRE_ORIGIN) != sender->admission.number) {
        return (verdict){WIRE_WRONG_SENDER, "the origin must be the number of this client"};
    }
    if (size > DELIVERABLE_BYTES_MAX && !(frame[WIRE_FLAGS] & WIRE_FLAG_CONFIRM)) {
        return (verdict){WIRE_TOO_LONG, TOO_LARGE_TEXT};
    }
    return (verdict){0, NULL};
}

/* Take EVERY_HOME out of the flags, as routers and receivers do not know it; false: the flags are not allowed. The
 * frame is in a buffer of the switch, and its flags are read later. */
static __attribute__((cold, noinline)) bool take_every_home(tm_message *message, const tm_connection *sender) {
    uint8_t *flags = (uint8_t *)(uintptr_t)message->frame + WIRE_FLAGS;
    message->for_every_home = !message->is_dry && !switch_is_link(sender) &&
                              (*flags & WIRE_STORE_FLAGS) == WIRE_STORE_FLAGS &&
                              (*flags & ~(WIRE_FLAGS_KNOWN | WIRE_FLAG_EVERY_HOME)) == 0;
    if (message->for_every_home) {
        *flags = (uint8_t)(*flags & ~WIRE_FLAG_EVERY_HOME);
    }
    return message->for_every_home;
}

static verdict check_header(tm_message *message, const tm_connection *sender) {
    const uint8_t *frame = message->frame;
    uint32_t size = message->size;
    if (size < WIRE_HEADER_BYTES) {
        return (verdict){WIRE_TOO_SHORT, "a data frame has at least 64 bytes"};
    }
    uint64_t rest = (uint64_t)tm_load16(frame + WIRE_EXTENSION_SIZE) + tm_load32(frame + WIRE_ATTRIBUTE_SIZE);
    if (rest > size - WIRE_HEADER_BYTES) {
        return (verdict){WIRE_MALFORMED, "extensions and attributes reach past the frame"};
    }
    if (tm_load16(frame + WIRE_RESERVED_16) != 0 ||
        ((frame[WIRE_FLAGS] & ~WIRE_FLAGS_KNOWN) != 0 && !take_every_home(message, sender))) {
        return (verdict){WIRE_RESERVED_SET,
                         "a reserved bit of the header is set, or EVERY_HOME in a message that is not "
                         "to be confirmed and stored"};
    }
    if (frame[WIRE_FLAGS] & WIRE_FLAG_OWN) {
        return (verdict){WIRE_MALFORMED, "flag OWN belongs to DELIVER frames"};
    }
    if (tm_load64(frame + WIRE_ORIGIN) == 0 || tm_load64(frame + WIRE_COUNTER) == 0) {
        return (verdict){WIRE_MALFORMED, "origin and counter of a message must not be 0"};
    }
    return check_sender(frame, size, sender);
}

/* Return the form of a message, chosen by its publisher and its attribute count (the first byte of the attributes),
 * since such messages mostly have identical names. */
static tm_form *form_of(tm_switch *sw, const tm_message *message, const uint8_t *attributes) {
    bool is_from_link = switch_is_link(switch_at(sw, message->from));
    uint32_t publisher = is_from_link ? tm_load32(message->frame + WIRE_ORIGIN) : message->from;
    return &sw->forms[(publisher + attributes[0]) % SWITCH_FORMS];
}

uint64_t switch_unknown_to_classes(const tm_switch *sw) {
    bool is_any = sw->net != NULL && sw->net->classes.table != NULL;
    return is_any ? tm_table_unknown(sw->net->classes.table) : SHAPE_NO_TABLE;
}

/* Inline in both of its callers, as each message of most routers has one call alone. */
static inline __attribute__((always_inline)) verdict check_attributes(tm_switch *sw, tm_message *message) {
    const uint8_t *bytes = message->frame + WIRE_HEADER_BYTES + message->extension_size;
    size_t size = tm_load32(message->frame + WIRE_ATTRIBUTE_SIZE);
    const tm_net *net = sw->net;
    uint64_t unknown[SHAPE_TABLES] = {
        [SHAPE_LOCAL] = sw->subscriptions.filters == 0 ? SHAPE_NO_TABLE : tm_table_unknown(sw->table),
        [SHAPE_NETWORK] = SHAPE_NO_TABLE,
        [SHAPE_RECORDED] =
            sw->records == NULL || sw->records->wanted == NULL ? SHAPE_NO_TABLE : tm_table_unknown(sw->records->wanted),
        [SHAPE_SHARED] = SHAPE_NO_TABLE,
    };
    if (net != NULL) {
        unknown[SHAPE_NETWORK] = net->network.count == 0 ? SHAPE_NO_TABLE : tm_table_unknown(net->network.table);
        const tm_network *shared = &net->shared.network;
        unknown[SHAPE_SHARED] = shared->count == 0 ? SHAPE_NO_TABLE : tm_table_unknown(shared->table);
    }
    message->form = form_of(sw, message, bytes);
    tm_shape *shape = &message->form->shape;
    if (unknown[SHAPE_LOCAL] != shape->unknown[SHAPE_LOCAL] ||
        unknown[SHAPE_NETWORK] != shape->unknown[SHAPE_NETWORK] ||
        unknown[SHAPE_RECORDED] != shape->unknown[SHAPE_RECORDED] ||
        unknown[SHAPE_SHARED] != shape->unknown[SHAPE_SHARED]) {
        unknown[SHAPE_CLASSES] = switch_unknown_to_classes(sw);
        tm_shape_want_all(shape, unknown);
    }
    if (tm_shape_decode(shape, bytes, size, sw->attributes, &message->attribute_count) != TM_OK) {
        return (verdict){WIRE_BAD_ATTRIBUTES, "attributes not allowed in a message"};
    }
    return (verdict){0, NULL};
}

bool switch_decode(tm_switch *sw, tm_message *message) {
    return check_attributes(sw, message).code == 0;
}

void switch_decode_all(tm_switch *sw, tm_message *message) {
    tm_shape *shape = &message->form->shape;
    const uint8_t *bytes = message->frame + WIRE_HEADER_BYTES + message->extension_size;
    tm_shape_want_all(shape, shape->unknown);
    tm_shape_decode(shape, bytes, tm_load32(message->frame + WIRE_ATTRIBUTE_SIZE), sw->attributes,
                    &message->attribute_count);
}

/* Parse a non-empty extension area, and accept from links what only routers may write. */
static __attribute__((noinline)) verdict take_extensions(const tm_switch *sw, tm_message *message, extensions *found) {
    if (!read_extensions(message->frame + WIRE_HEADER_BYTES, message->extension_size, found)) {
        return (verdict){WIRE_BAD_EXTENSION, "the extension area or an extension is malformed"};
    }
    bool is_from_link = switch_is_link(&sw->connections[message->from]);
    if (!is_from_link && (found->choice_count > 0 || found->members_only)) {
        return (verdict){WIRE_BAD_EXTENSION, "a client must not choose a member of a worker group"};
    }
    if (!is_from_link && found->has_keys) {
        return (verdict){WIRE_BAD_EXTENSION, "a client must not state which subscriptions a message matches"};
    }
    if (!is_from_link && found->route_bytes > 0) {
        return (verdict){WIRE_BAD_EXTENSION, "a client must not state the route of a message"};
    }
    message->choices = found->choices;
    message->choice_count = found->choice_count;
    message->members_only = found->members_only;
    message->route_bytes = found->route_bytes;
    return (verdict){0, NULL};
}

static verdict check_extensions(const tm_switch *sw, tm_message *message, extensions *found) {
    if (message->extension_size > 0) {
        verdict taken = take_extensions(sw, message, found);
        if (taken.code != 0) {
            return taken;
        }
    }
    bool says_traced = (message->frame[WIRE_FLAGS] & WIRE_FLAG_TRACED) != 0;
    if ((found->trace != 0) != says_traced && !found->is_strange) {
        return (verdict){WIRE_MALFORMED, "flag TRACED and extension TRACE go together"};
    }
    if (message->frame[WIRE_KIND] == WIRE_DRY_RUN && found->trace == 0) {
        return (verdict){WIRE_MALFORMED, "a DRY_RUN frame needs a TRACE extension"};
    }
    return (verdict){0, NULL};
}

/* true if there is no fault; otherwise it is reported */
static bool passes(tm_switch *sw, const tm_message *message, verdict verdict) {
    if (verdict.code != 0) {
        switch_fault(sw, message->from, verdict.code, message->frame, verdict.text);
    }
    return verdict.code == 0;
}

bool switch_check_header(tm_switch *sw, tm_message *message) {
    return passes(sw, message, check_header(message, switch_at(sw, message->from)));
}

bool switch_check_body(tm_switch *sw, tm_message *message, extensions *found) {
    message->extension_size = tm_load16(message->frame + WIRE_EXTENSION_SIZE);
    return passes(sw, message, check_attributes(sw, message)) &&
           passes(sw, message, check_extensions(sw, message, found));
}
