/* strings.c - see strings.h. */
#include "engines/onepath/strings.h"

#define RECORDS_MIN 16U
#define LOAD_PERCENT 50U
#define LABEL_STEP ((int64_t)1 << 32)

void tamis_strings_init(tamis_strings *strings, tm_memory *memory) {
    memset(strings, 0, sizeof *strings);
    strings->memory = memory;
    strings->key = memory->key;
    strings->free = TM_NO_STRING;
    strings->set.percent_max = LOAD_PERCENT;
}

void tamis_strings_clear(tamis_strings *strings) {
    for (uint32_t id = 0; id < strings->record_count; id++) {
        tamis_string *string = &strings->records[id];
        if (string->references != 0) {
            TM_DELETE(strings->memory, TM_HOT, string->bytes, uint8_t, string->length + !string->length);
        }
    }
    TM_DELETE(strings->memory, TM_HOT, strings->records, tamis_string, strings->record_capacity);
    TM_DELETE(strings->memory, TM_HOT, strings->labels, int64_t, strings->record_capacity);
    tm_idset_free(&strings->set, strings->memory, TM_HOT);
    TM_DELETE(strings->memory, TM_HOT, strings->order, uint32_t, strings->order_capacity);
    tamis_strings_init(strings, strings->memory);
}

static inline bool is_string(const tamis_string *string, tm_head head, const uint8_t *bytes, uint32_t length) {
    return string->length == length && string->head.low == head.low && string->head.high == head.high &&
           (length <= TM_INLINE_BYTES || memcmp(string->bytes, bytes, length) == 0);
}

uint32_t tamis_strings_find(const tamis_strings *strings, const uint8_t *bytes, uint32_t length) {
    tm_head head = tm_head_of(bytes, length);
    uint32_t hash = (uint32_t)tm_hash_text(bytes, length, &strings->key);
    tm_idset_search at = tm_idset_start(&strings->set, hash);
    for (uint32_t next; (next = tm_idset_next(&at)) != 0;) {
        const tamis_string *string = &strings->records[next - 1];
        if (string->hash == hash && is_string(string, head, bytes, length)) {
            return next - 1;
        }
    }
    return TM_NO_STRING;
}

/* ---- the set ---- */

static uint64_t hash_of(const void *owner, uint64_t next) {
    const tamis_strings *strings = owner;
    return strings->records[next - 1].hash;
}

static bool reserve_record(tamis_strings *strings) {
    if (strings->free != TM_NO_STRING || strings->record_count < strings->record_capacity) {
        return true;
    }
    uint32_t capacity = strings->record_capacity + strings->record_capacity / 4 + RECORDS_MIN;
    tamis_string *records =
        TM_RESIZE(strings->memory, TM_HOT, strings->records, tamis_string, strings->record_capacity, capacity);
    if (records == NULL) {
        return false;
    }
    strings->records = records;
    int64_t *labels = TM_RESIZE(strings->memory, TM_HOT, strings->labels, int64_t, strings->record_capacity, capacity);
    if (labels == NULL) {
        strings->records =
            TM_RESIZE(strings->memory, TM_HOT, records, tamis_string, capacity, strings->record_capacity);
        return false;
    }
    strings->labels = labels;
    strings->record_capacity = capacity;
    return true;
}

static uint32_t create(tamis_strings *strings, const uint8_t *bytes, uint32_t length) {
    if (tm_idset_reserve(&strings->set, strings->memory, TM_HOT, hash_of, strings) != TM_OK ||
        !reserve_record(strings)) {
        return TM_NO_STRING;
    }
    uint8_t *copy = TM_NEW(strings->memory, TM_HOT, uint8_t, length + !length);
    if (copy == NULL) {
        return TM_NO_STRING;
    }
    memcpy(copy, bytes, length);
    uint32_t id = strings->record_count;
    if (strings->free != TM_NO_STRING) {
        id = strings->free;
        strings->free = strings->records[id].length;
    } else {
        strings->record_count++;
    }
    strings->records[id] = (tamis_string){
        .head = tm_head_of(bytes, length),
        .bytes = copy,
        .length = length,
        .hash = (uint32_t)tm_hash_text(bytes, length, &strings->key),
    };
    tm_idset_insert(&strings->set, strings->records[id].hash, id + 1);
    strings->live++;
    strings->text_bytes += tm_memory_charge(length + !length);
    strings->version++;
    return id;
}

static void destroy(tamis_strings *strings, uint32_t id) {
    tamis_string *string = &strings->records[id];
    tm_idset_remove(&strings->set, string->hash, id + 1, hash_of, strings);
    strings->text_bytes -= tm_memory_charge(string->length + !string->length);
    TM_DELETE(strings->memory, TM_HOT, string->bytes, uint8_t, string->length + !string->length);
    memset(string, 0, sizeof *string);
    string->length = strings->free;
    strings->free = id;
    strings->live--;
    strings->version++;
    if (strings->live == 0) { /* the room goes, and what was remembered stays out of date */
        uint32_t version = strings->version;
        uint32_t order_version = strings->order_version;
        tamis_strings_clear(strings);
        strings->version = version;
        strings->order_version = order_version;
    }
}

/* ---- the order ---- */

static int compare(const uint8_t *a, uint32_t a_length, const uint8_t *b, uint32_t b_length) {
    int order = memcmp(a, b, a_length < b_length ? a_length : b_length);
    return order != 0 ? order : (a_length > b_length) - (a_length < b_length);
}

/* The head of sixteen bytes is all of them: numbers are compared where their record is. */
static int compare_to(const tamis_string *string, const uint8_t *bytes, uint32_t length) {
    if (string->length == sizeof string->head && length == sizeof string->head) {
        return memcmp(&string->head, bytes, sizeof string->head);
    }
    return compare(string->bytes, string->length, bytes, length);
}

/* How many ordered constants lie below the value; `*equal` whether the next one is the value itself. */
static uint32_t rank_of(const tamis_strings *strings, const uint8_t *bytes, uint32_t length, bool *equal) {
    uint32_t low = 0;
    uint32_t high = strings->order_count;
    *equal = false;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = compare_to(&strings->records[strings->order[middle]], bytes, length);
        if (order == 0) {
            *equal = true;
            return middle;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

int64_t tamis_strings_label(const tamis_strings *strings, const uint8_t *bytes, uint32_t length) {
    bool equal;
    uint32_t rank = rank_of(strings, bytes, length, &equal);
    if (equal) {
        return strings->labels[strings->order[rank]];
    }
    return rank == 0 ? INT64_MIN : strings->labels[strings->order[rank - 1]] + 1;
}

static int64_t label_at(const tamis_strings *strings, uint32_t rank) {
    return strings->labels[strings->order[rank]];
}

static void spread_labels(tamis_strings *strings) {
    int64_t label = -(int64_t)(strings->order_count / 2) * LABEL_STEP;
    for (uint32_t rank = 0; rank < strings->order_count; rank++, label += LABEL_STEP) {
        strings->labels[strings->order[rank]] = label;
    }
}

/* Label the constant at `rank` between its neighbours, or spread all where no even label is free between them. */
static void label_new(tamis_strings *strings, uint32_t rank) {
    int64_t *label = &strings->labels[strings->order[rank]];
    bool first = rank == 0;
    bool last = rank + 1 == strings->order_count;
    if (first || last) {
        *label = first && last ? 0
                 : last        ? label_at(strings, rank - 1) + LABEL_STEP
                               : label_at(strings, rank + 1) - LABEL_STEP;
        return;
    }
    int64_t below = label_at(strings, rank - 1);
    int64_t above = label_at(strings, rank + 1);
    if (above - below < 4) {
        spread_labels(strings);
        return;
    }
    *label = (below + (above - below) / 2) & ~(int64_t)1;
}

static bool join_order(tamis_strings *strings, uint32_t id) {
    if (strings->order_count == strings->order_capacity) {
        uint32_t capacity = strings->order_capacity + strings->order_capacity / 4 + RECORDS_MIN;
        uint32_t *order =
            TM_RESIZE(strings->memory, TM_HOT, strings->order, uint32_t, strings->order_capacity, capacity);
        if (order == NULL) {
            return false;
        }
        strings->order = order;
        strings->order_capacity = capacity;
    }
    bool equal;
    const tamis_string *string = &strings->records[id];
    uint32_t rank = rank_of(strings, string->bytes, string->length, &equal);
    memmove(strings->order + rank + 1, strings->order + rank, sizeof *strings->order * (strings->order_count - rank));
    strings->order[rank] = id;
    strings->order_count++;
    strings->order_version++;
    label_new(strings, rank);
    return true;
}

static void leave_order(tamis_strings *strings, uint32_t id) {
    bool equal;
    const tamis_string *string = &strings->records[id];
    uint32_t rank = rank_of(strings, string->bytes, string->length, &equal);
    strings->order_count--;
    strings->order_version++;
    memmove(strings->order + rank, strings->order + rank + 1, sizeof *strings->order * (strings->order_count - rank));
}

/* ---- references ---- */

uint32_t tamis_strings_acquire(tamis_strings *strings, const uint8_t *bytes, uint32_t length, bool ordered) {
    uint32_t id = tamis_strings_find(strings, bytes, length);
    if (id == TM_NO_STRING) {
        id = create(strings, bytes, length);
        if (id == TM_NO_STRING) {
            return TM_NO_STRING;
        }
    }
    tamis_string *string = &strings->records[id];
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

void tamis_strings_release(tamis_strings *strings, uint32_t id, bool ordered) {
    tamis_string *string = &strings->records[id];
    if (ordered && --string->ordered == 0) {
        leave_order(strings, id);
    }
    if (--string->references == 0) {
        destroy(strings, id);
    }
}

int tamis_strings_validate(const tamis_strings *strings, const char **reason) {
    uint32_t live = 0;
    uint32_t ordered = 0;
    for (uint32_t id = 0; id < strings->record_count; id++) {
        const tamis_string *string = &strings->records[id];
        live += string->references != 0;
        ordered += string->ordered != 0;
        if (string->references != 0 && tamis_strings_find(strings, string->bytes, string->length) != id) {
            *reason = "a string constant is not found under its own bytes";
            return TM_MISUSED;
        }
    }
    for (uint32_t rank = 1; rank < strings->order_count; rank++) {
        const tamis_string *below = &strings->records[strings->order[rank - 1]];
        const tamis_string *above = &strings->records[strings->order[rank]];
        if (compare(below->bytes, below->length, above->bytes, above->length) >= 0 ||
            label_at(strings, rank - 1) >= label_at(strings, rank) - 1) {
            *reason = "string constants or their labels are out of order";
            return TM_MISUSED;
        }
    }
    if (live != strings->live || ordered != strings->order_count) {
        *reason = "the count of string constants is wrong";
        return TM_MISUSED;
    }
    return TM_OK;
}

void tamis_strings_probes(const tamis_strings *strings, tm_probes *probes) {
    tm_idset_probes(&strings->set, hash_of, strings, probes);
}
