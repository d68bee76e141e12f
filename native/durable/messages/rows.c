/* rows.c - see rows.h.
 *
 * Law: a subscription has a row in memory for each message that it has on disk, so memory is reserved before the record
 * is appended.
 */
#include "durable/messages/rows.h"

#include "durable/core/bounds.h"
#include "durable/core/copied.h"
#include "durable/core/latest.h"
#include "durable/core/owners.h"
#include "durable/core/record.h"
#include "durable/core/table.h"
#include "durable/messages/finished.h"
#include "durable/messages/leave.h"
#include "durable/tables/index.h"

/* Return the hash of a value, never 0; two values collide once in 2^63. */
static uint64_t key_of(const tm_durables *durables, const tm_attribute *attribute) {
    uint64_t kind = (uint64_t)attribute->kind + 1;
    uint64_t bits = (uint64_t)attribute->integer;
    if (attribute->kind == TM_KIND_STRING) {
        bits = tm_hash_text(attribute->string, attribute->length, &durables->memory.key) ^ attribute->length;
    } else if (attribute->kind == TM_KIND_FLOAT) {
        memcpy(&bits, &attribute->real, sizeof bits);
    }
    return tm_hash_words(bits, kind, 0, &durables->memory.key) | 1;
}

static uint64_t key_named(const tm_durables *durables, const tm_attribute *attributes, size_t count,
                          const uint8_t *name, uint32_t size) {
    for (size_t i = 0; size > 0 && i < count; i++) {
        if (attributes[i].name_length == size && memcmp(attributes[i].name, name, size) == 0) {
            return key_of(durables, &attributes[i]);
        }
    }
    return 0;
}

tm_stored_row durable_row(const tm_switch *sw, const tm_durable *durable, uint64_t n, uint64_t at_ms,
                          const uint8_t *frame, uint32_t size, tm_stored_keys *keys) {
    const tm_durable_policy *policy = durable->policy;
    tm_stored_row row = {.n = n,
                         .place = ROW_NO_PLACE,
                         .at_ms = at_ms,
                         .size = size,
                         .attempt = STORED_NO_ATTEMPT,
                         .is_recorded = durable_is_recorded(sw, frame)};
    *keys = (tm_stored_keys){0};
    wire_expiry_ms(frame, size, &keys->expires_ms);
    if (policy->order_by_size + policy->latest_by_size > 0) {
        tm_attribute attributes[TM_ATTRIBUTES_MAX];
        size_t count = durable_attributes_of(frame, attributes);
        keys->order_key = key_named(sw->durables, attributes, count, policy->order_by, policy->order_by_size);
        keys->latest_key = key_named(sw->durables, attributes, count, policy->latest_by, policy->latest_by_size);
    }
    return row;
}

bool durable_reserve(tm_switch *sw, tm_durable *durable, const uint8_t *frame) {
    uint64_t expires_ms = 0;
    if (frame != NULL) {
        wire_expiry_ms(frame, tm_load32(frame), &expires_ms);
    }
    const tm_durable_policy *policy = durable->policy;
    bool has_keys = frame != NULL && (policy->order_by_size + policy->latest_by_size > 0 || expires_ms > 0);
    return durable_reserve_row(sw, durable, has_keys);
}

bool durable_reserve_row(tm_switch *sw, tm_durable *durable, bool has_keys) {
    tm_memory *memory = &sw->durables->memory;
    const tm_durable_policy *policy = durable->policy;
    if (policy == NULL) { /* the catalog has no account */
        return tm_index_reserve(&durable->index, memory, has_keys);
    }
    bool has_latest =
        durable_open_account(sw, durable) && (policy->latest_by_size == 0 || durable_reserve_latest(sw, durable));
    return has_latest && durable_reserve_copied(sw, durable) && tm_index_reserve(&durable->index, memory, has_keys);
}

void durable_put(tm_switch *sw, uint32_t slot, const tm_stored_row *row, const tm_stored_keys *keys, tm_stored_id id) {
    tm_durable *durable = durable_at(sw, slot);
    uint64_t older = keys->latest_key != 0 ? durable_find_latest(durable, keys->latest_key) : 0;
    if (older != 0) {
        durable_leave(sw, slot, tm_index_from(&durable->index, older), LEFT_REPLACED);
    }
    tm_index_append(&durable->index, row, keys);
    if (keys->latest_key != 0) {
        tm_idset_insert(&durable->account->latest, keys->latest_key, row->n);
    }
    bool is_open = row->state == ROW_OPEN;
    durable->appended += is_open;
    durable->open += is_open;
    durable->past += !is_open;
    durable->bytes += row->size;
    durable_charge(sw, durable, 1, row->size);
    durable->account->past_bytes += is_open ? 0 : row->size;
    uint64_t ends_ms = durable->policy->for_ms > 0 ? row->at_ms + durable->policy->for_ms : UINT64_MAX;
    ends_ms = keys->expires_ms > 0 && keys->expires_ms < ends_ms ? keys->expires_ms : ends_ms;
    durable_note_end(sw, durable, ends_ms);
    if (row->n > sw->durables->committed) {
        durable_make_unwritten(sw, slot);
    }
    if (is_open) {
        durable_note_copied(sw, durable, id, row->n);
        durable_leave_if_finished(sw, slot, id, row->n);
    }
    if (durable_is_past_bounds(sw, durable) || durable->look_ms <= sw->durables->turn_ms) {
        durable_make_due(sw, slot);
    }
}

int tm_durable_newest(const tm_switch *sw, uint32_t number, const uint8_t *attributes, size_t size, uint64_t *n) {
    if (sw == NULL || sw->durables == NULL || attributes == NULL || n == NULL) {
        return TM_MISUSED;
    }
    uint32_t slot = durable_slot(sw, number);
    const tm_durable *durable = slot != DURABLE_NONE ? durable_at(sw, slot) : NULL;
    tm_attribute decoded[TM_ATTRIBUTES_MAX];
    size_t count = 0;
    size_t used;
    if (durable == NULL || durable->account == NULL ||
        tm_attributes_decode(attributes, size, decoded, &count, &used) != TM_OK) {
        return TM_ABSENT;
    }
    const tm_durable_policy *policy = durable->policy;
    uint64_t key = key_named(sw->durables, decoded, count, policy->latest_by, policy->latest_by_size);
    *n = key != 0 ? durable_find_latest(durable, key) : 0;
    return *n != 0 ? TM_OK : TM_ABSENT;
}
