/* strings.c - acquires, orders and releases constants. Law: as in strings.h. */
#include "engines/onepath/values/strings.h"

#include "engines/onepath/values/labels.h"

#define RECORDS_MIN 16U
#define LOAD_PERCENT 50U
#define ASKED_MAX 4U /* consecutive slots that are prefetched: nine searches in ten end there */

void onepath_strings_init(onepath_strings *strings, tm_memory *memory, bool of_numbers) {
    memset(strings, 0, sizeof *strings);
    strings->memory = memory;
    strings->key = memory->key;
    strings->free = TM_NO_STRING;
    strings->set.percent_max = LOAD_PERCENT;
    strings->sorted.of_numbers = of_numbers;
}

void onepath_strings_clear(onepath_strings *strings) {
    for (uint32_t id = 0; id < strings->record_count; id++) {
        onepath_string *string = &strings->records[id];
        if (string->references != 0 && onepath_string_has_copy(string->length)) {
            TM_DELETE(strings->memory, TM_HOT, string->copy, uint8_t, string->length);
        }
    }
    TM_DELETE(strings->memory, TM_HOT, strings->records, onepath_string, strings->record_capacity);
    TM_DELETE(strings->memory, TM_HOT, strings->labels, int64_t, strings->record_capacity);
    tm_idset_free(&strings->set, strings->memory, TM_HOT);
    onepath_sorted_clear(&strings->sorted, strings->memory);
    onepath_strings_init(strings, strings->memory, strings->sorted.of_numbers);
}

static inline bool is_string(const onepath_string *string, tm_head head, const uint8_t *bytes, uint32_t length) {
    return string->length == length && string->head.low == head.low && string->head.high == head.high &&
           (length <= TM_INLINE_BYTES || memcmp(string->copy, bytes, length) == 0);
}

uint32_t onepath_strings_find(const onepath_strings *strings, const uint8_t *bytes, uint32_t length) {
    tm_head head = tm_head_of(bytes, length);
    uint32_t hash = (uint32_t)tm_hash_text(bytes, length, &strings->key);
    tm_idset_search at = tm_idset_start(&strings->set, hash);
    for (uint32_t next; (next = tm_idset_next(&at)) != 0;) {
        const onepath_string *string = &strings->records[next - 1];
        if (string->hash == hash && is_string(string, head, bytes, length)) {
            return next - 1;
        }
    }
    return TM_NO_STRING;
}

void onepath_strings_ask(const onepath_strings *strings, const uint8_t *bytes, uint32_t length) {
    tm_idset_search at = tm_idset_start(&strings->set, (uint32_t)tm_hash_text(bytes, length, &strings->key));
    __builtin_prefetch((const uint32_t *)at.slots + at.at);
}

/* Prefetch the hashes of the constants from the home of a hash on, which a search compares. */
static void ask_from(const onepath_strings *strings, uint32_t hash) {
    tm_idset_search at = tm_idset_start(&strings->set, hash);
    uint32_t next = tm_idset_next(&at);
    for (uint32_t i = 0; next != 0 && i < ASKED_MAX; i++) {
        __builtin_prefetch(&strings->records[next - 1].hash);
        next = tm_idset_next(&at);
    }
}

void onepath_strings_ask_found(const onepath_strings *strings, const uint8_t *bytes, uint32_t length) {
    ask_from(strings, (uint32_t)tm_hash_text(bytes, length, &strings->key));
}

void onepath_strings_ask_beside(const onepath_strings *strings, uint32_t id) {
    if (strings->records[id].references == 1) {
        ask_from(strings, strings->records[id].hash);
    }
}

void onepath_strings_ask_last(const onepath_strings *strings, uint32_t id) {
    if (strings->records[id].references == 1) {
        tm_idset_search at = tm_idset_start(&strings->set, strings->records[id].hash);
        __builtin_prefetch((const uint32_t *)at.slots + at.at);
    }
}

/* ---- the set ---- */

static uint64_t hash_of(const void *owner, uint64_t next) {
    const onepath_strings *strings = owner;
    return strings->records[next - 1].hash;
}

static bool reserve_record(onepath_strings *strings) {
    if (strings->free != TM_NO_STRING || strings->record_count < strings->record_capacity) {
        return true;
    }
    uint32_t capacity = strings->record_capacity + strings->record_capacity / 4 + RECORDS_MIN;
    onepath_string *records =
        TM_RESIZE(strings->memory, TM_HOT, strings->records, onepath_string, strings->record_capacity, capacity);
    if (records == NULL) {
        return false;
    }
    strings->records = records;
    int64_t *labels = TM_RESIZE(strings->memory, TM_HOT, strings->labels, int64_t, strings->record_capacity, capacity);
    if (labels == NULL) {
        strings->records =
            TM_RESIZE(strings->memory, TM_HOT, records, onepath_string, capacity, strings->record_capacity);
        return false;
    }
    strings->labels = labels;
    strings->record_capacity = capacity;
    return true;
}

/* Store the text: in the record if it fits, otherwise in a copy; false if out of memory. */
static bool keep_text(onepath_strings *strings, onepath_string *fresh, const uint8_t *bytes) {
    if (!onepath_string_has_copy(fresh->length)) {
        memcpy(fresh->text, bytes, fresh->length <= ONEPATH_STRING_SHORT ? fresh->length : 0);
        return true;
    }
    fresh->copy = TM_NEW(strings->memory, TM_HOT, uint8_t, fresh->length);
    if (fresh->copy == NULL) {
        return false;
    }
    memcpy(fresh->copy, bytes, fresh->length);
    strings->text_bytes += tm_memory_charge(fresh->length);
    return true;
}

static uint32_t create(onepath_strings *strings, const uint8_t *bytes, uint32_t length) {
    if (tm_idset_reserve(&strings->set, strings->memory, TM_HOT, hash_of, strings) != TM_OK ||
        !reserve_record(strings)) {
        return TM_NO_STRING;
    }
    onepath_string fresh = {
        .head = tm_head_of(bytes, length),
        .length = length,
        .hash = (uint32_t)tm_hash_text(bytes, length, &strings->key),
    };
    if (!keep_text(strings, &fresh, bytes)) {
        return TM_NO_STRING;
    }
    uint32_t id = strings->record_count;
    if (strings->free != TM_NO_STRING) {
        id = strings->free;
        strings->free = strings->records[id].length;
        if (strings->free != TM_NO_STRING) { /* for the next constant */
            __builtin_prefetch(&strings->records[strings->free], 1);
            __builtin_prefetch(&strings->labels[strings->free], 1);
        }
    } else {
        strings->record_count++;
    }
    strings->records[id] = fresh;
    if (strings->sorted.of_numbers) {
        strings->labels[id] = ONEPATH_NO_LABEL;
    }
    tm_idset_insert(&strings->set, strings->records[id].hash, id + 1);
    strings->live++;
    strings->version++;
    return id;
}

static void destroy(onepath_strings *strings, uint32_t id) {
    onepath_string *string = &strings->records[id];
    tm_idset_remove(&strings->set, string->hash, id + 1, hash_of, strings);
    if (onepath_string_has_copy(string->length)) {
        strings->text_bytes -= tm_memory_charge(string->length);
        TM_DELETE(strings->memory, TM_HOT, string->copy, uint8_t, string->length);
    }
    memset(string, 0, sizeof *string);
    string->length = strings->free;
    strings->free = id;
    strings->live--;
    strings->version++;
    if (strings->live == 0) { /* frees the room; the versions go on, so that what was cached stays invalid */
        uint32_t version = strings->version;
        uint32_t order_version = strings->order_version;
        onepath_strings_clear(strings);
        strings->version = version;
        strings->order_version = order_version;
    }
}

/* ---- the order ---- */

int64_t onepath_strings_label(const onepath_strings *strings, uint32_t constant, const uint8_t *bytes,
                              uint32_t length) {
    if (constant != TM_NO_STRING && strings->records[constant].ordered > 0) {
        return strings->labels[constant];
    }
    bool is_there;
    onepath_sorted_place place = onepath_sorted_find(strings, bytes, length, &is_there);
    if (is_there) {
        return strings->labels[onepath_sorted_at(&strings->sorted, place)];
    }
    return onepath_strings_label_before(strings, place);
}

static bool join_order(onepath_strings *strings, uint32_t id) {
    onepath_sorted_place place;
    if (!onepath_sorted_insert(strings, id, &place)) {
        return false;
    }
    strings->order_version++;
    onepath_labels_give(strings, place);
    return true;
}

static void leave_order(onepath_strings *strings, uint32_t id) {
    onepath_sorted_remove(strings, id);
    strings->labels[id] = ONEPATH_NO_LABEL;
    strings->order_version++;
}

/* ---- references ---- */

uint32_t onepath_strings_acquire(onepath_strings *strings, const uint8_t *bytes, uint32_t length, bool ordered) {
    uint32_t id = onepath_strings_find(strings, bytes, length);
    if (id == TM_NO_STRING) {
        id = create(strings, bytes, length);
        if (id == TM_NO_STRING) {
            return TM_NO_STRING;
        }
    }
    onepath_string *string = &strings->records[id];
    if (ordered && string->ordered == 0 && !join_order(strings, id)) {
        if (string->references == 0) {
            destroy(strings, id);
        }
        return TM_NO_STRING;
    }
    string->references++;
    string->ordered += ordered;
    return id;
}

void onepath_strings_hold(onepath_strings *strings, uint32_t id) {
    strings->records[id].references++;
    strings->records[id].ordered++;
}

bool onepath_strings_order(onepath_strings *strings, uint32_t id) {
    onepath_string *string = &strings->records[id];
    if (string->ordered == 0 && !join_order(strings, id)) {
        return false;
    }
    string->ordered++;
    return true;
}

void onepath_strings_disorder(onepath_strings *strings, uint32_t id) {
    if (--strings->records[id].ordered == 0) {
        leave_order(strings, id);
    }
}

void onepath_strings_release(onepath_strings *strings, uint32_t id, bool ordered) {
    onepath_string *string = &strings->records[id];
    if (ordered) {
        onepath_strings_disorder(strings, id);
    }
    if (--string->references == 0) {
        destroy(strings, id);
    }
}

int onepath_strings_validate(const onepath_strings *strings, const char **reason) {
    uint32_t live = 0;
    uint32_t ordered = 0;
    for (uint32_t id = 0; id < strings->record_count; id++) {
        const onepath_string *string = &strings->records[id];
        live += string->references != 0;
        ordered += string->ordered != 0;
        if (string->references != 0 &&
            onepath_strings_find(strings, onepath_string_text(string), string->length) != id) {
            *reason = "a string constant is not found under its own bytes";
            return TM_MISUSED;
        }
    }
    if (live != strings->live || ordered != strings->sorted.count) {
        *reason = "the count of string constants is wrong";
        return TM_MISUSED;
    }
    int result = onepath_sorted_validate(strings, reason);
    return result != TM_OK ? result : onepath_labels_validate(strings, reason);
}

void onepath_strings_probes(const onepath_strings *strings, tm_probes *probes) {
    tm_idset_probes(&strings->set, hash_of, strings, probes);
}
