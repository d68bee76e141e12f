/* record.c - see record.h.
 *
 * Law: by id, a message is recorded at every router that it reaches or at none; by predicate, wherever its body is
 * read. Dry runs are never recorded. The switch never waits: a record without room is lost and counted.
 */
#include "switch/observe/record.h"

#include "switch/connections/connection.h"

#define NS_PER_US 1000U

/* true if the predicate matches; false without memory to match it */
static bool is_wanted(tm_switch *sw, const tm_message *message) {
    if (message->form == NULL) {
        return false;
    }
    uint64_t bits = 0;
    tm_query query = {.group_count = 1, .memo = message->form->shape.memo[SHAPE_RECORDED]};
    tm_hits hits = {.bits = &bits};
    int result = tm_table_match(sw->records->wanted, sw->attributes, message->attribute_count, &query, &hits);
    if (result == TM_OK) {
        tm_shape_note_asked(&message->form->shape, SHAPE_RECORDED);
    }
    return result == TM_OK && bits != 0;
}

bool switch_is_recorded(tm_switch *sw, const tm_message *message) {
    if (message->is_dry) {
        return false;
    }
    if (sw->records->wanted != NULL) {
        return is_wanted(sw, message);
    }
    return tm_records_sample(sw->records, tm_load64(message->frame + WIRE_ORIGIN),
                             tm_load64(message->frame + WIRE_COUNTER));
}

/* Return a record of the frame and its trail. */
static tm_record record_of(tm_switch *sw, const tm_message *message, bool entered) {
    const tm_connection *from = switch_at(sw, message->from);
    const tm_trail *trail = message->trail;
    unsigned refused = trail->head.reason != TM_TRACE_NOT_DROPPED ? trail->head.reason : trail->here;
    return (tm_record){
        .refused = refused == TM_TRACE_NOT_DROPPED ? RECORD_NOT_REFUSED : (uint8_t)refused,
        .entered = entered,
        .t_us = trail->head.arrived_ns / NS_PER_US,
        .origin = tm_load64(message->frame + WIRE_ORIGIN),
        .number = tm_load64(message->frame + WIRE_COUNTER),
        .source = message->source,
        .source_epoch = message->epoch,
        .transit = message->counter,
        .from_neighbour = switch_is_link(from) ? from->admission.number : 0,
        .published_us = tm_load64(message->frame + WIRE_PUBLISHED) / NS_PER_US,
        .match_ns = trail->head.match_ns,
        .from_connection = message->from,
        .bytes = message->size,
        .matched = trail->matched,
        .links = trail->lists[TM_TRACE_LINKS].count,
        .clients = trail->lists[TM_TRACE_CLIENTS].count,
        .dropped = trail->lists[TRAIL_DROPPED].count,
        .attribute_bytes = entered ? tm_load32(message->frame + WIRE_ATTRIBUTE_SIZE) : 0,
    };
}

static void copy_ids(uint32_t *to, const tm_trail_list *list) {
    for (uint32_t i = 0; i < list->count; i++) {
        to[i] = (uint32_t)list->rows[i].id;
    }
}

void switch_record(tm_switch *sw, const tm_message *message) {
    const tm_trail *trail = message->trail;
    bool entered = !switch_is_link(switch_at(sw, message->from));
    if (!trail->is_whole) {
        tm_records_lose(sw->records);
        return;
    }
    tm_record shape = record_of(sw, message, entered);
    tm_record *record = tm_records_begin(sw->records, &shape);
    if (record == NULL) {
        return;
    }
    for (uint32_t i = 0; i < record->links; i++) {
        tm_record_links(record)[i] = trail->lists[TM_TRACE_LINKS].rows[i].number;
    }
    copy_ids(tm_record_clients(record), &trail->lists[TM_TRACE_CLIENTS]);
    copy_ids(tm_record_dropped(record), &trail->lists[TRAIL_DROPPED]);
    const uint8_t *attributes = message->frame + WIRE_HEADER_BYTES + message->extension_size;
    memcpy(tm_record_attributes(record), attributes, record->attribute_bytes);
    tm_records_commit(sw->records, record);
}

int tm_switch_record(tm_switch *sw, tm_records *records) {
    if (sw == NULL) {
        return TM_MISUSED;
    }
    sw->records = records;
    return TM_OK;
}
