/* rows.c - see rows.h.
 *
 * Law: a subscription has a row in memory for each message that it has on disk, so memory is reserved before the record
 * is appended.
 */
#include "durable/messages/rows.h"

#include "durable/keep/bounds.h"
#include "durable/keep/latest.h"
#include "durable/keep/owners.h"
#include "durable/keep/record.h"
#include "durable/keep/table.h"
#include "durable/messages/leave.h"
#include "durable/tables/index.h"

/* Return the hash of a value, never 0; two values collide once in 2^63. */
static uint64_t key_of(const tm_keeps *keeps, const tm_attribute *attribute) {
    uint64_t kind = (uint64_t)attribute->kind + 1;
    uint64_t bits = (uint64_t)attribute->integer;
    if (attribute->kind == TM_KIND_STRING) {
        bits = tm_hash_text(attribute->string, attribute->length, &keeps->memory.key) ^ attribute->length;
    } else if (attribute->kind == TM_KIND_FLOAT) {
        memcpy(&bits, &attribute->real, sizeof bits);
    }
    return tm_hash_words(bits, kind, 0, &keeps->memory.key) | 1;
}

static uint64_t key_named(const tm_keeps *keeps, const tm_attribute *attributes, size_t count, const uint8_t *name,
                          uint32_t size) {
    for (size_t i = 0; size > 0 && i < count; i++) {
        if (attributes[i].name_length == size && memcmp(attributes[i].name, name, size) == 0) {
            return key_of(keeps, &attributes[i]);
        }
    }
    return 0;
}

tm_kept keep_row(const tm_switch *sw, const tm_keep *keep, uint64_t n, uint64_t at_ms, const uint8_t *frame,
                 uint32_t size, tm_kept_keys *keys) {
    const tm_keep_terms *terms = keep->terms;
    tm_kept row = {.n = n,
                   .place = KEPT_NO_PLACE,
                   .at_ms = at_ms,
                   .size = size,
                   .attempt = KEPT_NO_ATTEMPT,
                   .is_recorded = keep_is_recorded(sw, frame)};
    *keys = (tm_kept_keys){0};
    wire_expiry_ms(frame, size, &keys->expires_ms);
    if (terms->order_by_size + terms->latest_by_size > 0) {
        tm_attribute attributes[TM_ATTRIBUTES_MAX];
        size_t count = keep_attributes_of(frame, attributes);
        keys->order_key = key_named(sw->keeps, attributes, count, terms->order_by, terms->order_by_size);
        keys->latest_key = key_named(sw->keeps, attributes, count, terms->latest_by, terms->latest_by_size);
    }
    return row;
}

bool keep_reserve(tm_switch *sw, tm_keep *keep, const uint8_t *frame) {
    uint64_t expires_ms = 0;
    if (frame != NULL) {
        wire_expiry_ms(frame, tm_load32(frame), &expires_ms);
    }
    const tm_keep_terms *terms = keep->terms;
    bool has_keys = frame != NULL && (terms->order_by_size + terms->latest_by_size > 0 || expires_ms > 0);
    return keep_reserve_row(sw, keep, has_keys);
}

bool keep_reserve_row(tm_switch *sw, tm_keep *keep, bool has_keys) {
    tm_memory *memory = &sw->keeps->memory;
    const tm_keep_terms *terms = keep->terms;
    if (terms == NULL) { /* the catalog has no account */
        return tm_index_reserve(&keep->index, memory, has_keys);
    }
    bool has_latest = keep_open_account(sw, keep) && (terms->latest_by_size == 0 || keep_reserve_latest(sw, keep));
    return has_latest && tm_index_reserve(&keep->index, memory, has_keys);
}

void keep_put(tm_switch *sw, uint32_t slot, const tm_kept *row, const tm_kept_keys *keys) {
    tm_keep *keep = keep_at(sw, slot);
    uint64_t older = keys->latest_key != 0 ? keep_find_latest(keep, keys->latest_key) : 0;
    if (older != 0) {
        keep_leave(sw, slot, tm_index_from(&keep->index, older), LEFT_REPLACED);
    }
    tm_index_append(&keep->index, row, keys);
    if (keys->latest_key != 0) {
        tm_idset_insert(&keep->account->latest, keys->latest_key, row->n);
    }
    bool is_open = row->state == KEPT_OPEN;
    keep->appended += is_open;
    keep->open += is_open;
    keep->past += !is_open;
    keep->bytes += row->size;
    keep_charge(sw, keep, 1, row->size);
    keep->account->past_bytes += is_open ? 0 : row->size;
    uint64_t ends_ms = keep->terms->for_ms > 0 ? row->at_ms + keep->terms->for_ms : UINT64_MAX;
    ends_ms = keys->expires_ms > 0 && keys->expires_ms < ends_ms ? keys->expires_ms : ends_ms;
    keep_note_end(sw, keep, ends_ms);
    if (row->n > sw->keeps->committed) {
        keep_make_unwritten(sw, slot);
    }
    if (keep_is_past_bounds(sw, keep) || keep->look_ms <= sw->keeps->turn_ms) {
        keep_make_due(sw, slot);
    }
}

int tm_keep_newest(const tm_switch *sw, uint32_t number, const uint8_t *attributes, size_t size, uint64_t *n) {
    if (sw == NULL || sw->keeps == NULL || attributes == NULL || n == NULL) {
        return TM_MISUSED;
    }
    uint32_t slot = keep_slot(sw, number);
    const tm_keep *keep = slot != KEEP_NONE ? keep_at(sw, slot) : NULL;
    tm_attribute decoded[TM_ATTRIBUTES_MAX];
    size_t count = 0;
    size_t used;
    if (keep == NULL || keep->account == NULL ||
        tm_attributes_decode(attributes, size, decoded, &count, &used) != TM_OK) {
        return TM_ABSENT;
    }
    const tm_keep_terms *terms = keep->terms;
    uint64_t key = key_named(sw->keeps, decoded, count, terms->latest_by, terms->latest_by_size);
    *n = key != 0 ? keep_find_latest(keep, key) : 0;
    return *n != 0 ? TM_OK : TM_ABSENT;
}
