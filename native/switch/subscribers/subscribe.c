/* subscribe.c - SUBSCRIBE frames, processed a slice at a time, and single subscriptions.
 *
 * Law: a frame's structure is checked whole before its first subscription is added. A subscription is added with all of
 * its filters or not at all; a refusal names the filter at fault.
 */
#include "model/msgpack.h"
#include "switch/state.h"
#include "switch/subscribers/subscriber.h"
#include "switch/subscribers/subscriptions.h"
#include "tm_residual_api.h"

/* Equal to protocol/limits.py and protocol/wire/schema.py; a test compares them. */
#define SUBSCRIPTIONS_PER_FRAME_MAX 10000U
#define DISJUNCTS_MAX 64U
#define GROUP_BYTES_MAX 256U
#define DIALECT_BYTES_MAX 32U
#define FIELDS_MAX 64U
#define SKIPPED_DEPTH_MAX 8U
#define SLICE_BYTES 16384U /* of filters: about a millisecond of work */

/* ---- the frame ---- */

static bool read_u32(tm_cursor *cursor, uint32_t *out) {
    int64_t number;
    if (!tm_read_integer(cursor, &number) || number < 0 || number > UINT32_MAX) {
        return false;
    }
    *out = (uint32_t)number;
    return true;
}

static bool read_boolean(tm_cursor *cursor, uint8_t *out) {
    tm_value value;
    if (!tm_read_value(cursor, 0, &value) || value.kind != TM_KIND_BOOLEAN) {
        return false;
    }
    *out = (uint8_t)value.integer;
    return true;
}

static int read_count(tm_cursor *cursor, uint32_t most, uint32_t *count) {
    if (!tm_read_array(cursor, count) || *count == 0) {
        return TM_MALFORMED;
    }
    return *count <= most ? TM_OK : TM_TOO_MANY;
}

/* Skip the fields that a later version appended to a record of `fields` fields; false: malformed. */
static bool skip_rest(tm_cursor *cursor, uint32_t fields, uint32_t count) {
    if (count < fields || count > FIELDS_MAX) {
        return false;
    }
    for (; count > fields; count--) {
        if (!tm_skip(cursor, SKIPPED_DEPTH_MAX)) {
            return false;
        }
    }
    return true;
}

/* Packed filters in the frame. */
typedef struct packed {
    uint32_t count;
    tm_cursor at; /* at the first one */
} packed;

/* One subscription: its id, its filters, its program, its filters for the index, and its dialect. */
typedef struct entry {
    uint32_t id;
    packed filters;
    packed indexed;         /* none: its filters are indexed */
    const uint8_t *program; /* borrowed from the frame */
    uint32_t program_size;  /* 0: there is none */
    const uint8_t *dialect; /* borrowed from the frame */
    uint32_t dialect_size;  /* 0: it has none */
} entry;

/* Read packed filters, of which there are `count`. */
static int read_filters(tm_cursor *cursor, uint32_t count, packed *out) {
    *out = (packed){count, *cursor};
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *bytes;
        uint32_t size;
        if (!tm_read_binary(cursor, &bytes, &size) || size == 0) {
            return TM_MALFORMED;
        }
        if (size > TM_FILTER_BYTES_MAX) {
            return TM_TOO_MANY;
        }
    }
    return TM_OK;
}

/* Read the optional residual program of a subscription. */
static int read_program(tm_cursor *cursor, uint32_t fields, entry *out) {
    out->program_size = 0;
    if (fields > 2 && !tm_read_binary(cursor, &out->program, &out->program_size)) {
        return TM_MALFORMED;
    }
    return out->program_size > TM_RESIDUAL_BYTES_MAX ? TM_TOO_MANY : TM_OK;
}

/* Read the optional filters of a subscription for the index; there may be none. */
static int read_indexed(tm_cursor *cursor, uint32_t fields, entry *out) {
    uint32_t count = 0;
    if (fields > 3 && !tm_read_array(cursor, &count)) {
        return TM_MALFORMED;
    }
    return count > DISJUNCTS_MAX ? TM_TOO_MANY : read_filters(cursor, count, &out->indexed);
}

/* Read the optional name of the dialect that a subscription's predicate was written in. */
static int read_dialect(tm_cursor *cursor, uint32_t fields, entry *out) {
    out->dialect_size = 0;
    bool is_read = fields < 5 || tm_read_string(cursor, DIALECT_BYTES_MAX, &out->dialect, &out->dialect_size);
    return is_read ? TM_OK : TM_MALFORMED;
}

static int read_entry(tm_cursor *cursor, entry *out) {
    uint32_t fields;
    uint32_t filters;
    if (!tm_read_array(cursor, &fields) || fields < 2 || !read_u32(cursor, &out->id)) {
        return TM_MALFORMED;
    }
    int result = read_count(cursor, DISJUNCTS_MAX, &filters);
    result = result == TM_OK ? read_filters(cursor, filters, &out->filters) : result;
    result = result == TM_OK ? read_program(cursor, fields, out) : result;
    result = result == TM_OK ? read_indexed(cursor, fields, out) : result;
    result = result == TM_OK ? read_dialect(cursor, fields, out) : result;
    return result == TM_OK && !skip_rest(cursor, fields < 5 ? fields : 5, fields) ? TM_MALFORMED : result;
}

/* Read the optional name of a group; an empty name means no group. */
static bool read_group(tm_cursor *cursor, uint32_t fields, tm_subscribe *out) {
    return fields < 6 || tm_read_string(cursor, GROUP_BYTES_MAX, &out->group, &out->group_size);
}

int tm_subscribe_open(const uint8_t *frame, size_t size, tm_subscribe *out) {
    if (frame == NULL || out == NULL || size < WIRE_PREFIX_BYTES || size > UINT32_MAX) {
        return TM_MISUSED;
    }
    tm_cursor cursor = {frame + WIRE_PREFIX_BYTES, frame + size};
    uint32_t fields;
    *out = (tm_subscribe){.frame = frame, .size = (uint32_t)size};
    if (!tm_read_array(&cursor, &fields) || fields < 5 || !read_u32(&cursor, &out->request)) {
        return TM_MALFORMED;
    }
    int result = read_count(&cursor, SUBSCRIPTIONS_PER_FRAME_MAX, &out->count);
    out->at = (uint32_t)(cursor.at - frame);
    out->left = out->count;
    entry skipped;
    for (uint32_t i = 0; i < out->count && result == TM_OK; i++) {
        result = read_entry(&cursor, &skipped);
    }
    uint32_t wait = 0;
    if (result == TM_OK && (!read_boolean(&cursor, &out->own_messages) || !read_u32(&cursor, &wait) || wait > 1 ||
                            !read_boolean(&cursor, &out->durable) || !read_group(&cursor, fields, out) ||
                            !skip_rest(&cursor, fields < 6 ? 5 : 6, fields) || cursor.at != cursor.end)) {
        result = TM_MALFORMED;
    }
    out->wait = (uint8_t)wait;
    return result;
}

/* ---- adding ---- */

static uint16_t refusal_of(int result) {
    return result == TM_NO_MEMORY ? WIRE_REFUSED_OUT_OF_MEMORY
           : result == TM_MISUSED ? WIRE_REFUSED_ID_IN_USE
                                  : WIRE_REFUSED_BAD_FILTER;
}

/* true if a packed filter, which is well-formed, has no constraint: an empty array */
static bool matches_all(const uint8_t *filter, uint32_t size) {
    tm_cursor cursor = {filter, filter + size};
    uint32_t constraints;
    return tm_read_array(&cursor, &constraints) && constraints == 0;
}

/* true if the subscriber is within its table quota, with the new subscription `row` */
static bool has_room(const tm_switch *sw, const tm_subscriber *subscriber, uint32_t row) {
    uint64_t bytes = subscriber->table_bytes + sw->subscriptions.rows[row].table_bytes;
    return bytes <= subscriber->terms.table_bytes_max;
}

/* Note the place in the frame that a refusal is about. */
static void locate(tm_refusal *refusal, const tm_subscribe *subscribe, const uint8_t *at, uint32_t size) {
    refusal->offset = (uint32_t)(at - subscribe->frame);
    refusal->size = size;
}

/* Add the filters of a subscription; returns TM_OK, or an error with `*refusal`. */
static int take_filters(tm_switch *sw, tm_subscriber *subscriber, uint32_t row, const tm_subscribe *subscribe,
                        packed filters, bool has_program, tm_refusal *refusal) {
    for (uint32_t i = 0; i < filters.count; i++) {
        const uint8_t *filter;
        uint32_t size;
        tm_read_binary(&filters.at, &filter, &size);
        int result = tm_subscriptions_add(&sw->subscriptions, row, filter, size);
        if (result != TM_OK) {
            refusal->code = refusal_of(result);
            locate(refusal, subscribe, filter, size);
            return result;
        }
        if (!has_room(sw, subscriber, row)) {
            refusal->code = WIRE_REFUSED_OVER_QUOTA;
            return TM_TOO_MANY;
        }
        sw->subscriptions.rows[row].is_unindexed |= has_program && matches_all(filter, size);
    }
    return TM_OK;
}

/* Give a subscription, which has its filters, its residual program; returns TM_OK, or an error with `*refusal`. */
static int take_program(tm_switch *sw, tm_subscriber *subscriber, uint32_t row, const tm_subscribe *subscribe,
                        const entry *wanted, tm_refusal *refusal) {
    const char *reason;
    uint32_t place;
    refusal->code = WIRE_REFUSED_BAD_FILTER;
    if (subscribe->group_size > 0) {
        return TM_MALFORMED;
    }
    locate(refusal, subscribe, wanted->program, wanted->program_size);
    if (tm_residual_verify(wanted->program, wanted->program_size, &reason, &place) != TM_OK) {
        return TM_MALFORMED;
    }
    refusal->code = WIRE_REFUSED_OVER_QUOTA;
    if (sw->subscriptions.rows[row].is_unindexed && subscriber->unindexed_count >= subscriber->terms.unindexed_max) {
        return TM_TOO_MANY;
    }
    locate(refusal, subscribe, subscribe->frame, 0);
    int result = tm_subscriptions_decide_by(&sw->subscriptions, row, wanted->program, wanted->program_size);
    refusal->code = refusal_of(result);
    if (result == TM_OK && !has_room(sw, subscriber, row)) {
        refusal->code = WIRE_REFUSED_OVER_QUOTA;
        result = TM_TOO_MANY;
    }
    if (result == TM_OK) {
        switch_keep_names(sw, wanted->program);
    }
    return result;
}

/* Add one subscription; returns TM_OK, or an error with `*refusal`. */
static int take(tm_switch *sw, uint32_t id, const tm_subscribe *subscribe, const entry *wanted, tm_refusal *refusal) {
    tm_subscriber *subscriber = switch_subscriber(sw, id);
    bool is_folded = wanted->program_size > 0 && wanted->indexed.count > 0;
    packed filters = is_folded ? wanted->indexed : wanted->filters;
    *refusal = (tm_refusal){.id = wanted->id, .code = WIRE_REFUSED_TOO_MANY_FILTERS};
    if (subscriber->filter_count + (uint64_t)filters.count > subscriber->terms.filters_max) {
        return TM_TOO_MANY;
    }
    uint32_t row;
    int result = tm_subscriptions_begin(&sw->subscriptions, id, wanted->id, subscribe->own_messages != 0,
                                        &subscriber->subscriptions, &row);
    refusal->code = refusal_of(result);
    if (result != TM_OK) {
        return result;
    }
    if (subscribe->group_size > 0) {
        result = tm_subscriptions_join(&sw->subscriptions, row, subscribe);
        refusal->code = refusal_of(result);
    }
    if (result == TM_OK && wanted->dialect_size > 0) {
        result = tm_subscriptions_note_dialect(&sw->subscriptions, row, wanted->dialect, (uint8_t)wanted->dialect_size);
        refusal->code = refusal_of(result);
    }
    if (result == TM_OK) {
        sw->subscriptions.rows[row].is_folded = is_folded;
        result = take_filters(sw, subscriber, row, subscribe, filters, wanted->program_size > 0, refusal);
    }
    if (result == TM_OK && wanted->program_size > 0) {
        result = take_program(sw, subscriber, row, subscribe, wanted, refusal);
    }
    if (result != TM_OK) {
        tm_subscriptions_end(&sw->subscriptions, row, &subscriber->subscriptions);
        return result;
    }
    subscriber->filter_count += filters.count;
    subscriber->table_bytes += sw->subscriptions.rows[row].table_bytes;
    subscriber->unindexed_count += sw->subscriptions.rows[row].is_unindexed;
    subscriber->subscription_count++;
    return TM_OK;
}

int tm_subscribe_some(tm_switch *sw, uint32_t id, tm_subscribe *subscribe, uint32_t filters, tm_refusal *refusals,
                      uint32_t count, uint32_t *refused) {
    if (!switch_knows_subscriber(sw, id) || subscribe == NULL || refusals == NULL || refused == NULL ||
        switch_subscriber(sw, id)->state != SUBSCRIBER_LIVE) {
        return TM_MISUSED;
    }
    tm_cursor cursor = {subscribe->frame + subscribe->at, subscribe->frame + subscribe->size};
    *refused = 0;
    uint32_t taken = 0;
    const uint8_t *end = cursor.end - cursor.at < SLICE_BYTES ? cursor.end : cursor.at + SLICE_BYTES;
    while (subscribe->left > 0 && taken < filters && *refused < count && cursor.at < end) {
        entry wanted;
        if (read_entry(&cursor, &wanted) != TM_OK) {
            return TM_MALFORMED;
        }
        *refused += take(sw, id, subscribe, &wanted, &refusals[*refused]) != TM_OK;
        taken += wanted.filters.count;
        subscribe->left--;
    }
    subscribe->at = (uint32_t)(cursor.at - subscribe->frame);
    return TM_OK;
}

int tm_switch_unsubscribe(tm_switch *sw, uint32_t id, uint32_t subscription) {
    if (!switch_knows_subscriber(sw, id)) {
        return TM_MISUSED;
    }
    uint32_t row = tm_subscriptions_find(&sw->subscriptions, id, subscription);
    if (row == SUBSCRIPTION_NONE) {
        return TM_ABSENT;
    }
    switch_drop_subscription(sw, switch_subscriber(sw, id), row);
    return TM_OK;
}

int tm_switch_subscribed(const tm_switch *sw, uint32_t handle, tm_subscribed *out) {
    if (sw == NULL || out == NULL) {
        return TM_MISUSED;
    }
    const tm_subscriptions *subscriptions = &sw->subscriptions;
    for (; handle < subscriptions->stored_count; handle++) {
        const tm_kept_filter *kept = &subscriptions->kept[handle];
        bool is_in_use = kept->subscription != SUBSCRIPTION_NONE;
        if (is_in_use && sw->subscribers[subscriptions->rows[kept->subscription].subscriber].state != SUBSCRIBER_HOME) {
            const tm_subscription *row = &subscriptions->rows[kept->subscription];
            const tm_subscriber *subscriber = &sw->subscribers[row->subscriber];
            *out = (tm_subscribed){.filter = tm_arena_at(&subscriptions->bytes, kept->block),
                                   .size = kept->size,
                                   .handle = handle,
                                   .subscriber = row->subscriber,
                                   .connection = subscriber->connection,
                                   .subscription = row->id,
                                   .durable = switch_durable_of(subscriber),
                                   .own_messages = row->own_messages,
                                   .is_folded = row->is_folded};
            if (row->dialect != 0) {
                out->dialect = tm_arena_at(&subscriptions->bytes, row->dialect);
                out->dialect_size = row->dialect_size;
            }
            if (row->program != PROGRAM_NONE) {
                const tm_program *program = tm_programs_at(&subscriptions->programs, row->program);
                out->program = program->bytes;
                out->program_size = program->size;
                out->candidates = program->candidates;
                out->passed = program->passed;
            }
            return TM_OK;
        }
    }
    return TM_ABSENT;
}

bool tm_switch_folds(const tm_switch *sw, const uint8_t *name, uint32_t length) {
    return sw != NULL && tm_folded_names_find(&sw->subscriptions.folded, name, length) != FOLDED_NONE;
}
