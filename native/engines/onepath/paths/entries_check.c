/* entries_check.c - checks that the entries of buckets and lists are those of the filters there.
 *
 * Law: each entry of a bucket belongs to one filter, which has the key of the bucket and agrees with the entry; each
 * filter has as many entries as its place has keys. The noted row of an entry is its row.
 */
#include "engines/onepath/paths/entries_check.h"

#include "engines/onepath/paths/bucket_keys.h"
#include "engines/onepath/paths/buckets.h"
#include "engines/onepath/paths/entries.h"
#include "engines/onepath/paths/pair_entry.h"
#include "engines/onepath/records.h"

/* Return the filter of an entry; ONEPATH_NONE if the entry names none. */
static uint32_t handle_of(const tm_engine *engine, const onepath_entry *entry) {
    bool last = (entry->rest & ONEPATH_LAST) != 0;
    if (!last && (entry->rest == 0 || entry->rest >= engine->bodies.top)) {
        return ONEPATH_NONE;
    }
    uint32_t handle = onepath_handle_of_entry(engine, entry);
    return handle < engine->holders->count ? handle : ONEPATH_NONE;
}

/* Return the keys of the buckets that a filter has an entry in. */
static uint32_t keys_of(const tm_engine *engine, uint32_t handle, uint64_t keys[TM_IN_VALUES_MAX]) {
    const onepath_record *record = &engine->records[handle];
    switch (record->place) {
    case ONEPATH_IN_PAIR:
        keys[0] = onepath_pair_key_of_record(engine, handle);
        return 1;
    case ONEPATH_IN_BUCKET:
    case ONEPATH_IN_NAMED:
        return onepath_bucket_keys(engine, (onepath_place)record->place, record->branch, record->access, keys);
    default:
        return 0;
    }
}

/* true if the filter has the key, and the row is noted unless it has several entries. */
static bool stands_under(const tm_engine *engine, uint32_t handle, uint64_t key, uint32_t row) {
    uint64_t keys[TM_IN_VALUES_MAX];
    uint32_t count = keys_of(engine, handle, keys);
    uint32_t left = count;
    while (left > 0 && keys[left - 1] != key) {
        left--;
    }
    uint32_t noted = left == 0 ? 0 : onepath_row_of(engine, &engine->records[handle]);
    return left > 0 && noted == (count == 1 ? row : ONEPATH_ROW_UNKNOWN);
}

static bool is_right(const tm_engine *engine, const onepath_entry *entry, uint64_t key, uint32_t row) {
    uint32_t handle = handle_of(engine, entry);
    if (handle == ONEPATH_NONE || !stands_under(engine, handle, key, row) ||
        (entry->interface & ONEPATH_ENTRY_INTERFACE) != onepath_interface_of(engine, handle) ||
        entry->rest != onepath_rest_of(engine, handle)) {
        return false;
    }
    const onepath_record *record = &engine->records[handle];
    if (record->place != ONEPATH_IN_PAIR) {
        return entry->interface <= ONEPATH_ENTRY_INTERFACE;
    }
    return onepath_pair_is_plain(entry) ? entry->test == record->access
                                        : onepath_pair_first_side(entry) == onepath_side_of(record->access) &&
                                              (uint32_t)entry->test == onepath_test_operand(record->access);
}

static uint64_t entries_wanted(const tm_engine *engine) {
    uint64_t keys[TM_IN_VALUES_MAX];
    uint64_t wanted = 0;
    for (uint32_t handle = 0; handle < engine->holders->count; handle++) {
        wanted += keys_of(engine, handle, keys);
    }
    return wanted;
}

/* true if the keys count the squares of the entries that their values have. */
static bool are_squares_right(const tm_engine *engine) {
    uint64_t keys[TM_IN_VALUES_MAX];
    uint64_t said = 0;
    uint64_t found = 0;
    for (uint32_t name = 0; name < engine->names.record_count; name++) {
        for (unsigned kind = 0; kind <= ONEPATH_ANY; kind++) {
            const onepath_key *key = engine->names.records[name].keys[kind];
            said += key == NULL ? 0 : key->rows_squared;
        }
    }
    for (uint32_t handle = 0; handle < engine->holders->count; handle++) {
        for (uint32_t left = keys_of(engine, handle, keys); left > 0; left--) {
            onepath_tag tag = onepath_key_tag(keys[left - 1]);
            bool is_value = tag >= ONEPATH_BY_BOOLEAN && tag <= ONEPATH_BY_STRING;
            bool is_first = onepath_key_branch(keys[left - 1]) == 0;
            found += is_value && is_first ? onepath_bucket_is_full(&engine->buckets, keys[left - 1]).entries : 0;
        }
    }
    return said == found;
}

/* ---- lists ---- */

/* true if each entry of a list is that of a filter with this place and row. */
static bool is_list_right(const tm_engine *engine, const onepath_list *list, unsigned place) {
    for (uint32_t row = 0; row < list->count; row++) {
        uint32_t handle = handle_of(engine, &list->entries[row]);
        const onepath_record *record = handle == ONEPATH_NONE ? NULL : &engine->records[handle];
        uint32_t noted = row < ONEPATH_ROW_UNKNOWN ? row : ONEPATH_ROW_UNKNOWN;
        if (record == NULL || record->place != place || onepath_row_of(engine, record) != noted ||
            list->entries[row].rest != onepath_rest_of(engine, handle)) {
            return false;
        }
    }
    return true;
}

static uint64_t scanned_of(const tm_engine *engine, bool *right) {
    uint64_t scanned = 0;
    for (uint32_t name = 0; name < engine->names.record_count; name++) {
        for (unsigned kind = 0; kind <= ONEPATH_ANY; kind++) {
            const onepath_key *key = engine->names.records[name].keys[kind];
            if (key != NULL) {
                *right &= is_list_right(engine, &key->scan, ONEPATH_IN_SCAN);
                scanned += key->scan.count;
            }
        }
    }
    return scanned;
}

static int validate_lists(const tm_engine *engine, const char **reason) {
    bool right = is_list_right(engine, &engine->always, ONEPATH_IN_ALWAYS);
    if (scanned_of(engine, &right) != engine->scanned || !right) {
        *reason = "an entry of a list does not match the filter in it";
        return TM_MISUSED;
    }
    return TM_OK;
}

/* ---- all ---- */

int onepath_entries_validate(const tm_engine *engine, const char **reason) {
    uint64_t found = 0;
    for (unsigned i = 0; i < ONEPATH_SEGMENTS; i++) {
        const onepath_segment *segment = &engine->buckets.segments[i];
        for (uint32_t at = 0; at < segment->capacity; at++) {
            const onepath_slot *slot = &segment->slots[at];
            uint32_t count = segment->tags[at] == 0 ? 0 : slot->entry_count;
            const onepath_entry *entries = onepath_slot_entries(&engine->buckets, slot);
            for (uint32_t row = 0; row < count; row++) {
                if (!is_right(engine, &entries[row], slot->key, row)) {
                    *reason = "an entry of a bucket does not match the filter in it";
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
    if (!are_squares_right(engine)) {
        *reason = "the squares of the entries of values are wrong";
        return TM_MISUSED;
    }
    return validate_lists(engine, reason);
}
