/* entries_check.c - are the entries of buckets and lists those of the filters that stand there?
 *
 * Law: each entry of a bucket belongs to one filter, which stands under the key of the bucket and says the same of it;
 * each filter has as many entries as its place has keys. The row that is noted of an entry is its row.
 */
#include "engines/onepath/paths/entries_check.h"

#include "engines/onepath/paths/bucket_keys.h"
#include "engines/onepath/paths/buckets.h"
#include "engines/onepath/paths/entries.h"
#include "engines/onepath/paths/pair_entry.h"
#include "engines/onepath/records.h"

/* The filter that an entry says it is of; TAMIS_NONE: nonsense. */
static uint32_t handle_of(const tm_engine *engine, const tamis_entry *entry) {
    bool last = (entry->rest & TAMIS_LAST) != 0;
    if (!last && (entry->rest == 0 || entry->rest >= engine->bodies.top)) {
        return TAMIS_NONE;
    }
    uint32_t handle = tamis_handle_of_entry(engine, entry);
    return handle < engine->holders->count ? handle : TAMIS_NONE;
}

/* The keys of the buckets that a filter has an entry in. */
static uint32_t keys_of(const tm_engine *engine, uint32_t handle, uint64_t keys[TM_IN_VALUES_MAX]) {
    const tamis_record *record = &engine->records[handle];
    switch (record->place) {
    case TAMIS_IN_PAIR:
        keys[0] = tamis_pair_key_of_record(engine, handle);
        return 1;
    case TAMIS_IN_BUCKET:
    case TAMIS_IN_NAMED:
        return tamis_bucket_keys(engine, (tamis_place)record->place, record->branch, record->access, keys);
    default:
        return 0;
    }
}

/* Does it stand under the key, and is the row noted unless it has several entries? */
static bool stands_under(const tm_engine *engine, uint32_t handle, uint64_t key, uint32_t row) {
    uint64_t keys[TM_IN_VALUES_MAX];
    uint32_t count = keys_of(engine, handle, keys);
    uint32_t left = count;
    while (left > 0 && keys[left - 1] != key) {
        left--;
    }
    uint32_t noted = left == 0 ? 0 : tamis_row_of(engine, &engine->records[handle]);
    return left > 0 && noted == (count == 1 ? row : TAMIS_ROW_UNKNOWN);
}

static bool is_right(const tm_engine *engine, const tamis_entry *entry, uint64_t key, uint32_t row) {
    uint32_t handle = handle_of(engine, entry);
    if (handle == TAMIS_NONE || !stands_under(engine, handle, key, row) ||
        (entry->interface & TAMIS_ENTRY_INTERFACE) != tamis_interface_of(engine, handle) ||
        entry->rest != tamis_rest_of(engine, handle)) {
        return false;
    }
    const tamis_record *record = &engine->records[handle];
    if (record->place != TAMIS_IN_PAIR) {
        return entry->interface <= TAMIS_ENTRY_INTERFACE;
    }
    return tamis_pair_is_plain(entry) ? entry->test == record->access
                                      : tamis_pair_first_side(entry) == tamis_side_of(record->access) &&
                                            (uint32_t)entry->test == tamis_test_operand(record->access);
}

static uint64_t entries_wanted(const tm_engine *engine) {
    uint64_t keys[TM_IN_VALUES_MAX];
    uint64_t wanted = 0;
    for (uint32_t handle = 0; handle < engine->holders->count; handle++) {
        wanted += keys_of(engine, handle, keys);
    }
    return wanted;
}

/* ---- lists ---- */

/* Is each entry of a list that of a filter which says this place and row? */
static bool is_list_right(const tm_engine *engine, const tamis_list *list, unsigned place) {
    for (uint32_t row = 0; row < list->count; row++) {
        uint32_t handle = handle_of(engine, &list->entries[row]);
        const tamis_record *record = handle == TAMIS_NONE ? NULL : &engine->records[handle];
        uint32_t noted = row < TAMIS_ROW_UNKNOWN ? row : TAMIS_ROW_UNKNOWN;
        if (record == NULL || record->place != place || tamis_row_of(engine, record) != noted ||
            list->entries[row].rest != tamis_rest_of(engine, handle)) {
            return false;
        }
    }
    return true;
}

static uint64_t scanned_of(const tm_engine *engine, bool *right) {
    uint64_t scanned = 0;
    for (uint32_t name = 0; name < engine->names.record_count; name++) {
        for (unsigned kind = 0; kind <= TAMIS_ANY; kind++) {
            const tamis_key *key = engine->names.records[name].keys[kind];
            if (key != NULL) {
                *right &= is_list_right(engine, &key->scan, TAMIS_IN_SCAN);
                scanned += key->scan.count;
            }
        }
    }
    return scanned;
}

static int validate_lists(const tm_engine *engine, const char **reason) {
    bool right = is_list_right(engine, &engine->always, TAMIS_IN_ALWAYS);
    if (scanned_of(engine, &right) != engine->scanned || !right) {
        *reason = "an entry of a list is not that of a filter which stands there";
        return TM_MISUSED;
    }
    return TM_OK;
}

/* ---- all ---- */

int tamis_entries_validate(const tm_engine *engine, const char **reason) {
    uint64_t found = 0;
    for (unsigned i = 0; i < TAMIS_SEGMENTS; i++) {
        const tamis_segment *segment = &engine->buckets.segments[i];
        for (uint32_t at = 0; at < segment->capacity; at++) {
            const tamis_slot *slot = &segment->slots[at];
            uint32_t count = segment->tags[at] == 0 ? 0 : slot->entry_count;
            const tamis_entry *entries = tamis_slot_entries(&engine->buckets, slot);
            for (uint32_t row = 0; row < count; row++) {
                if (!is_right(engine, &entries[row], slot->key, row)) {
                    *reason = "an entry of a bucket is not that of a filter which stands there";
                    return TM_MISUSED;
                }
            }
            found += count;
        }
    }
    if (found != entries_wanted(engine)) {
        *reason = "a filter is missing in a bucket";
        return TM_MISUSED;
    }
    return validate_lists(engine, reason);
}
