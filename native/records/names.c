/* names.c - see names.h. */
#include "records/names.h"

#include <string.h>

#include "base/grow.h"

static uint64_t hash_of(const void *owner, uint64_t id) {
    const tm_records *records = owner;
    return tm_hash_u64(records->names[id - 1].number, &records->memory.key);
}

static tm_record_name *find(const tm_records *records, uint64_t number) {
    tm_idset_search at = tm_idset_start(&records->name_set, tm_hash_u64(number, &records->memory.key));
    uint32_t id;
    while ((id = tm_idset_next(&at)) != 0) {
        if (records->names[id - 1].number == number) {
            return &records->names[id - 1];
        }
    }
    return NULL;
}

const tm_record_name *tm_records_named(const tm_records *records, uint64_t number) {
    return find(records, number);
}

static tm_record_name *add(tm_records *records, uint64_t number) {
    if (!tm_grow(&records->memory, TM_COLD, &records->names, sizeof *records->names, &records->name_capacity,
                 records->name_count + 1) ||
        tm_idset_reserve(&records->name_set, &records->memory, TM_COLD, hash_of, records) != TM_OK) {
        return NULL;
    }
    tm_record_name *added = &records->names[records->name_count++];
    *added = (tm_record_name){.number = number};
    tm_idset_insert(&records->name_set, tm_hash_u64(number, &records->memory.key), records->name_count);
    return added;
}

int tm_records_name(tm_records *records, uint64_t number, const uint8_t *name, size_t size, uint32_t hops) {
    if (records == NULL || name == NULL || size > UINT16_MAX) {
        return TM_MISUSED;
    }
    tm_record_name *named = find(records, number);
    named = named != NULL ? named : add(records, number);
    uint8_t *text = named != NULL ? TM_NEW(&records->memory, TM_COLD, uint8_t, size) : NULL;
    if (text == NULL) {
        return TM_NO_MEMORY;
    }
    memcpy(text, name, size);
    TM_DELETE(&records->memory, TM_COLD, named->text, uint8_t, named->size);
    named->text = text;
    named->size = (uint32_t)size;
    named->hops = hops;
    records->name_bytes_max = size > records->name_bytes_max ? (uint32_t)size : records->name_bytes_max;
    return TM_OK;
}
