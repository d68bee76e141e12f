/* records.c - see records.h. */
#define _GNU_SOURCE
#include "records/records.h"

#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/grow.h"
#include "records/names.h"
#include "records/record_lines.h"

#define ENTRY_ALIGN 8U

/* ---- life ---- */

static bool options_are_sound(const tm_records_options *options) {
    return options != NULL && options->prefix != NULL && options->ring_bytes >= 2 * TM_FRAME_BYTES_MAX &&
           (options->ring_bytes & (options->ring_bytes - 1)) == 0;
}

int tm_records_new(const tm_records_options *options, tm_records **made) {
    if (!options_are_sound(options) || made == NULL) {
        return TM_MISUSED;
    }
    tm_memory memory = {.key = tm_hash_key_of(options->hash_seed)};
    tm_records *records = TM_NEW(&memory, TM_COLD, tm_records, 1);
    if (records == NULL) {
        return TM_NO_MEMORY;
    }
    records->memory = memory;
    records->called = -1;
    records->wanted = options->wanted;
    records->share = options->share;
    records->ring_bytes = options->ring_bytes;
    records->prefix_size = options->prefix_size;
    records->prefix = TM_NEW(&records->memory, TM_COLD, uint8_t, options->prefix_size);
    records->ring = TM_NEW(&records->memory, TM_COLD, uint8_t, options->ring_bytes);
    records->called = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    records->stored_prefix_size = options->stored_prefix_size;
    records->stored_prefix = TM_NEW(&records->memory, TM_COLD, uint8_t, options->stored_prefix_size);
    bool has_stored = records->stored_prefix != NULL || options->stored_prefix_size == 0;
    if (records->prefix == NULL || !has_stored || records->ring == NULL || records->called < 0) {
        tm_records_free(records);
        return TM_NO_MEMORY;
    }
    memcpy(records->prefix, options->prefix, options->prefix_size);
    if (options->stored_prefix_size > 0) {
        memcpy(records->stored_prefix, options->stored_prefix, options->stored_prefix_size);
    }
    *made = records;
    return TM_OK;
}

void tm_records_free(tm_records *records) {
    if (records == NULL) {
        return;
    }
    tm_memory memory = records->memory;
    for (uint32_t i = 0; i < records->name_count; i++) {
        TM_DELETE(&memory, TM_COLD, records->names[i].text, uint8_t, records->names[i].size);
    }
    TM_DELETE(&memory, TM_COLD, records->names, tm_record_name, records->name_capacity);
    tm_idset_free(&records->name_set, &memory, TM_COLD);
    TM_DELETE(&memory, TM_COLD, records->prefix, uint8_t, records->prefix_size);
    TM_DELETE(&memory, TM_COLD, records->stored_prefix, uint8_t, records->stored_prefix_size);
    TM_DELETE(&memory, TM_COLD, records->ring, uint8_t, records->ring_bytes);
    if (records->called >= 0) {
        close(records->called);
    }
    TM_DELETE(&memory, TM_COLD, records, tm_records, 1);
}

/* ---- appending ---- */

static uint32_t entry_bytes(const tm_record *shape) {
    uint64_t size = sizeof *shape + sizeof(uint64_t) * (uint64_t)shape->links +
                    sizeof(uint32_t) * ((uint64_t)shape->clients + shape->dropped) + shape->attribute_bytes;
    return size > UINT32_MAX / 2 ? UINT32_MAX : ((uint32_t)size + ENTRY_ALIGN - 1) & ~(ENTRY_ALIGN - 1);
}

static bool has_room(tm_records *records, uint64_t noted, uint64_t bytes) {
    if (records->ring_bytes - (noted - records->taken_then) < bytes) {
        records->taken_then = atomic_load_explicit(&records->taken, memory_order_acquire);
    }
    return records->ring_bytes - (noted - records->taken_then) >= bytes;
}

void tm_records_lose(tm_records *records) {
    records->n++;
    atomic_fetch_add_explicit(&records->lost, 1, memory_order_relaxed);
}

/* Reserve an entry of `size` bytes; NULL: no room, which is counted. An entry that does not fit in front of the end of
 * the ring begins at its start, behind a filler. */
static void *begin(tm_records *records, uint32_t size) {
    uint64_t noted = atomic_load_explicit(&records->noted, memory_order_relaxed);
    uint32_t at = (uint32_t)noted & (records->ring_bytes - 1);
    uint32_t skipped = size > records->ring_bytes - at ? records->ring_bytes - at : 0;
    if (!has_room(records, noted, (uint64_t)size + skipped)) {
        tm_records_lose(records);
        return NULL;
    }
    if (skipped > 0) {
        tm_record_head *filler = (tm_record_head *)(records->ring + at);
        filler->size = skipped; /* a filler has at least eight bytes, and only those are read */
        filler->kind = RECORD_FILLER;
        atomic_store_explicit(&records->noted, noted + skipped, memory_order_release);
        at = 0;
    }
    return records->ring + at;
}

static void commit(tm_records *records, uint32_t size) {
    uint64_t noted = atomic_load_explicit(&records->noted, memory_order_relaxed) + size;
    atomic_store_explicit(&records->noted, noted, memory_order_release);
    if (noted - records->taken_then > records->ring_bytes / 2 && !has_room(records, noted, records->ring_bytes / 2) &&
        !atomic_load_explicit(&records->is_called, memory_order_relaxed)) {
        tm_records_call(records);
    }
}

tm_record *tm_records_begin(tm_records *records, const tm_record *shape) {
    uint32_t size = entry_bytes(shape);
    tm_record *record = begin(records, size);
    if (record != NULL) {
        *record = *shape;
        record->size = size;
        record->kind = RECORD_OF_MESSAGE;
        record->n = records->n++;
    }
    return record;
}

void tm_records_commit(tm_records *records, const tm_record *record) {
    commit(records, record->size);
}

void tm_records_note_stored(tm_records *records, const tm_stored_record *shape) {
    _Static_assert(sizeof *shape % ENTRY_ALIGN == 0, "entries follow one another");
    tm_stored_record *record = begin(records, sizeof *shape);
    if (record != NULL) {
        *record = *shape;
        record->size = sizeof *shape;
        record->kind = RECORD_OF_STORED;
        record->n = records->n++;
        commit(records, sizeof *shape);
    }
}

uint64_t tm_records_lost(const tm_records *records) {
    return atomic_load_explicit(&records->lost, memory_order_relaxed);
}

/* ---- taking ---- */

void tm_records_call(tm_records *records) {
    atomic_store_explicit(&records->is_called, true, memory_order_relaxed);
    eventfd_write(records->called, 1);
}

void tm_records_wait(tm_records *records, uint32_t timeout_ms) {
    struct pollfd called = {.fd = records->called, .events = POLLIN};
    poll(&called, 1, (int)timeout_ms);
    eventfd_t calls;
    eventfd_read(records->called, &calls);
    atomic_store_explicit(&records->is_called, false, memory_order_relaxed);
}

uint64_t tm_records_end(tm_records *records) {
    return atomic_load_explicit(&records->noted, memory_order_acquire);
}

int tm_records_take(tm_records *records, uint64_t end, uint8_t *out, size_t capacity, size_t *size, uint64_t *count) {
    uint64_t taken = atomic_load_explicit(&records->taken, memory_order_relaxed);
    *size = 0;
    *count = 0;
    while (taken != end) {
        tm_record_head *record = (tm_record_head *)(records->ring + (taken & (records->ring_bytes - 1)));
        uint32_t bytes = record->size;
        if (record->kind != RECORD_FILLER) {
            size_t wanted = tm_record_line_bytes(records, record);
            if (wanted > capacity - *size) {
                *size = *count == 0 ? wanted : *size;
                return *count == 0 ? TM_TOO_MANY : TM_OK;
            }
            *size = (size_t)(tm_record_line(records, record, out + *size) - out);
            (*count)++;
        }
        taken += bytes;
        atomic_store_explicit(&records->taken, taken, memory_order_release);
    }
    return TM_OK;
}

/* ---- soundness ---- */

static const char *fault_of(const tm_records *records) {
    uint64_t noted = atomic_load(&records->noted);
    uint64_t at = atomic_load(&records->taken);
    if (noted - at > records->ring_bytes) {
        return "the ring counts more bytes than it has";
    }
    while (at != noted) {
        uint64_t place = at & (records->ring_bytes - 1);
        const tm_record_head *record = (const tm_record_head *)(records->ring + place);
        if (record->size == 0 || record->size % ENTRY_ALIGN != 0 || record->size > records->ring_bytes - place ||
            record->size > noted - at) {
            return "an entry of the ring is split";
        }
        bool is_whole = record->kind == RECORD_FILLER ||
                        record->size == (record->kind == RECORD_OF_STORED ? sizeof(tm_stored_record)
                                                                          : entry_bytes((const tm_record *)record));
        if (!is_whole) {
            return "the size of an entry does not match its contents";
        }
        at += record->size;
    }
    for (uint32_t i = 0; i < records->name_count; i++) {
        if (tm_records_named(records, records->names[i].number) != &records->names[i]) {
            return "a router is not found under its number";
        }
    }
    return NULL;
}

int tm_records_validate(const tm_records *records, const char **reason) {
    *reason = fault_of(records);
    return *reason == NULL ? TM_OK : TM_MISUSED;
}
