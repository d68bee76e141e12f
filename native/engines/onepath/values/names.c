/* names.c - acquires and releases attribute names. Law: as in names.h. */
#include "engines/onepath/values/names.h"

#define LOAD_PERCENT 50U /* keeps searches short */
#define RECORDS_MIN 16U

void onepath_names_init(onepath_names *names, tm_memory *memory) {
    memset(names, 0, sizeof *names);
    names->memory = memory;
    names->key = memory->key;
    names->free = TM_NO_NAME;
    names->set = (tm_idset){.percent_max = LOAD_PERCENT, .has_words = true};
    names->version = 1;
}

static void changed(onepath_names *names) {
    names->version += 1 + (names->version == UINT32_MAX);
}

void onepath_names_clear(onepath_names *names) {
    for (uint32_t id = 0; id < names->record_count; id++) {
        TM_DELETE(names->memory, TM_HOT, names->records[id].bytes, uint8_t, names->records[id].length);
    }
    TM_DELETE(names->memory, TM_HOT, names->records, onepath_name, names->record_capacity);
    tm_idset_free(&names->set, names->memory, TM_HOT);
    onepath_names_init(names, names->memory);
}

static uint32_t hash_of(const onepath_names *names, uint32_t id) {
    const onepath_name *name = &names->records[id];
    return (uint32_t)tm_hash_headed(name->head, name->bytes, name->length, &names->key);
}

static uint64_t word_of(uint32_t hash, uint32_t id) {
    return (uint64_t)hash << 32 | (id + 1);
}

static uint64_t hash_of_word(const void *owner, uint64_t word) {
    (void)owner;
    return word >> 32;
}

static bool reserve_record(onepath_names *names) {
    if (names->free != TM_NO_NAME || names->record_count < names->record_capacity) {
        return true;
    }
    uint32_t capacity = names->record_capacity + names->record_capacity / 4 + RECORDS_MIN;
    if (capacity > TM_NAMES_MAX) {
        return false;
    }
    onepath_name *records =
        TM_RESIZE(names->memory, TM_HOT, names->records, onepath_name, names->record_capacity, capacity);
    if (records == NULL) {
        return false;
    }
    names->records = records;
    names->record_capacity = capacity;
    return true;
}

uint32_t onepath_names_acquire(onepath_names *names, const uint8_t *bytes, uint32_t length) {
    uint32_t id = onepath_names_find(names, bytes, length);
    if (id != TM_NO_NAME) {
        names->records[id].references++;
        return id;
    }
    if (tm_idset_reserve(&names->set, names->memory, TM_HOT, hash_of_word, names) != TM_OK || !reserve_record(names)) {
        return TM_NO_NAME;
    }
    uint8_t *copy = NULL;
    if (length > TM_INLINE_BYTES) {
        copy = TM_NEW(names->memory, TM_HOT, uint8_t, length);
        if (copy == NULL) {
            return TM_NO_NAME;
        }
        memcpy(copy, bytes, length);
        names->text_bytes += tm_memory_charge(length);
    }
    id = names->free != TM_NO_NAME ? names->free : names->record_count++;
    if (id == names->free) {
        names->free = names->records[id].length;
    }
    tm_head head = tm_head_of(bytes, length);
    names->records[id] = (onepath_name){.head = head, .length = length, .references = 1, .bytes = copy};
    uint32_t hash = hash_of(names, id);
    tm_idset_insert(&names->set, hash, word_of(hash, id));
    names->live++;
    changed(names);
    return id;
}

void onepath_names_release(onepath_names *names, uint32_t id) {
    onepath_name *name = &names->records[id];
    if (--name->references != 0) {
        return;
    }
    uint32_t hash = hash_of(names, id);
    tm_idset_remove(&names->set, hash, word_of(hash, id), hash_of_word, names);
    names->text_bytes -= name->bytes != NULL ? tm_memory_charge(name->length) : 0;
    TM_DELETE(names->memory, TM_HOT, name->bytes, uint8_t, name->length);
    memset(name, 0, sizeof *name);
    name->length = names->free;
    names->free = id;
    names->live--;
    changed(names);
}

static bool is_reachable(const onepath_names *names, uint32_t id) {
    uint32_t hash = hash_of(names, id);
    tm_idset_search at = tm_idset_start(&names->set, hash);
    uint64_t word;
    do {
        word = tm_idset_next_word(&at);
    } while (word != 0 && word != word_of(hash, id));
    return word != 0;
}

int onepath_names_validate(const onepath_names *names, const char **reason) {
    uint32_t live = 0;
    for (uint32_t id = 0; id < names->record_count; id++) {
        if (names->records[id].references != 0) {
            live++;
            if (!is_reachable(names, id)) {
                *reason = "a name is not found under its own bytes";
                return TM_MISUSED;
            }
        }
    }
    if (live != names->live || !tm_idset_is_sound(&names->set, hash_of_word, names)) {
        *reason = "the count of live names is wrong";
        return TM_MISUSED;
    }
    return TM_OK;
}

void onepath_names_probes(const onepath_names *names, tm_probes *probes) {
    tm_idset_probes(&names->set, hash_of_word, names, probes);
}
