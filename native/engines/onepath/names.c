/* names.c - see names.h. */
#include "engines/onepath/names.h"

#include "base/probes.h"

#define SLOTS_MIN 64U
#define RECORDS_MIN 16U

void tamis_names_init(tamis_names *names, tm_memory *memory) {
    memset(names, 0, sizeof *names);
    names->memory = memory;
    names->key = memory->key;
    names->free = TM_NO_NAME;
    names->version = 1;
}

static void changed(tamis_names *names) {
    names->version += 1 + (names->version == UINT32_MAX);
}

void tamis_names_clear(tamis_names *names) {
    for (uint32_t id = 0; id < names->record_count; id++) {
        TM_DELETE(names->memory, TM_HOT, names->records[id].bytes, uint8_t, names->records[id].length);
    }
    TM_DELETE(names->memory, TM_HOT, names->records, tamis_name, names->record_capacity);
    TM_DELETE(names->memory, TM_HOT, names->slots, tamis_name_slot, names->slot_capacity);
    tamis_names_init(names, names->memory);
}

static uint32_t hash_of(const tamis_names *names, const tamis_name *name) {
    return (uint32_t)tm_hash_headed(name->head, name->bytes, name->length, &names->key);
}

static void place(tamis_name_slot *slots, uint32_t mask, tamis_name_slot slot) {
    uint32_t at = slot.hash & mask;
    while (slots[at].id != TM_NO_NAME) {
        at = (at + 1) & mask;
    }
    slots[at] = slot;
}

/* At most half full, so that probes stay short. */
static bool reserve_slot(tamis_names *names) {
    if ((names->live + 1) * 2 <= names->slot_capacity) {
        return true;
    }
    uint32_t capacity = names->slot_capacity == 0 ? SLOTS_MIN : names->slot_capacity * 2;
    tamis_name_slot *slots = TM_NEW(names->memory, TM_HOT, tamis_name_slot, capacity);
    if (slots == NULL) {
        return false;
    }
    for (uint32_t at = 0; at < capacity; at++) {
        slots[at].id = TM_NO_NAME;
    }
    for (uint32_t at = 0; at < names->slot_capacity; at++) {
        if (names->slots[at].id != TM_NO_NAME) {
            place(slots, capacity - 1, names->slots[at]);
        }
    }
    TM_DELETE(names->memory, TM_HOT, names->slots, tamis_name_slot, names->slot_capacity);
    names->slots = slots;
    names->slot_capacity = capacity;
    return true;
}

static bool reserve_record(tamis_names *names) {
    if (names->free != TM_NO_NAME || names->record_count < names->record_capacity) {
        return true;
    }
    uint32_t capacity = names->record_capacity + names->record_capacity / 4 + RECORDS_MIN;
    if (capacity > TM_NAMES_MAX) {
        return false;
    }
    tamis_name *records =
        TM_RESIZE(names->memory, TM_HOT, names->records, tamis_name, names->record_capacity, capacity);
    if (records == NULL) {
        return false;
    }
    names->records = records;
    names->record_capacity = capacity;
    return true;
}

uint32_t tamis_names_acquire(tamis_names *names, const uint8_t *bytes, uint32_t length) {
    uint32_t id = tamis_names_find(names, bytes, length);
    if (id != TM_NO_NAME) {
        names->records[id].references++;
        return id;
    }
    if (!reserve_slot(names) || !reserve_record(names)) {
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
    names->records[id] = (tamis_name){.head = head, .length = length, .references = 1, .bytes = copy};
    uint32_t hash = hash_of(names, &names->records[id]);
    place(names->slots, names->slot_capacity - 1, (tamis_name_slot){hash, id});
    names->live++;
    changed(names);
    return id;
}

/* Linear probing without tombstones: slots behind the hole move up where their probe passes it. */
static void erase_slot(tamis_names *names, uint32_t id) {
    const tamis_name *name = &names->records[id];
    uint32_t mask = names->slot_capacity - 1;
    uint32_t hole = hash_of(names, name) & mask;
    while (names->slots[hole].id != id) {
        hole = (hole + 1) & mask;
    }
    for (uint32_t at = (hole + 1) & mask; names->slots[at].id != TM_NO_NAME; at = (at + 1) & mask) {
        uint32_t home = names->slots[at].hash & mask;
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            names->slots[hole] = names->slots[at];
            hole = at;
        }
    }
    names->slots[hole] = (tamis_name_slot){0, TM_NO_NAME};
}

void tamis_names_release(tamis_names *names, uint32_t id) {
    tamis_name *name = &names->records[id];
    if (--name->references != 0) {
        return;
    }
    erase_slot(names, id);
    names->text_bytes -= name->bytes != NULL ? tm_memory_charge(name->length) : 0;
    TM_DELETE(names->memory, TM_HOT, name->bytes, uint8_t, name->length);
    memset(name, 0, sizeof *name);
    name->length = names->free;
    names->free = id;
    names->live--;
    changed(names);
}

static bool is_reachable(const tamis_names *names, uint32_t id) {
    const tamis_name *name = &names->records[id];
    uint32_t mask = names->slot_capacity - 1;
    uint32_t at = hash_of(names, name) & mask;
    while (names->slots[at].id != TM_NO_NAME && names->slots[at].id != id) {
        at = (at + 1) & mask;
    }
    return names->slots[at].id == id;
}

int tamis_names_validate(const tamis_names *names, const char **reason) {
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
    if (live != names->live) {
        *reason = "the count of live names is wrong";
        return TM_MISUSED;
    }
    return TM_OK;
}

void tamis_names_probes(const tamis_names *names, tm_probes *probes) {
    for (uint32_t at = 0; at < names->slot_capacity; at++) {
        if (names->slots[at].id != TM_NO_NAME) {
            tm_probes_note(probes, names->slots[at].hash & (names->slot_capacity - 1), at, names->slot_capacity);
        }
    }
}
